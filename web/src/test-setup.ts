import "@testing-library/jest-dom/vitest";
import { cleanup } from "@testing-library/react";
import { afterEach } from "vitest";

afterEach(cleanup);

// There is no screen to ask about.
window.matchMedia = (media) => ({ media, matches: false }) as MediaQueryList;
