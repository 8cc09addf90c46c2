/** The mark: one hand that reaches many ways. */
export const Brand = ({ className = "size-7" }: { className?: string }) => (
  <svg viewBox="0 0 32 32" aria-hidden className={className}>
    <title>Manyhands</title>
    <rect width="32" height="32" rx="9" className="fill-accent" />
    <g fill="none" stroke="white" strokeWidth="2.6" strokeLinecap="round">
      <path d="M16 22.5V17M16 17 9.500 11.500M16 17V8.500M16 17l6.500-5.500" />
    </g>
    <g fill="white">
      <circle cx="16" cy="23.500" r="2.600" />
      <circle cx="9" cy="11" r="2.200" />
      <circle cx="16" cy="7.800" r="2.200" />
      <circle cx="23" cy="11" r="2.200" />
    </g>
  </svg>
);
