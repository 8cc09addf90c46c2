/** What a new workflow begins with: small, and it runs. */
export const STARTER = `name: my-workflow
description: What it is for, in a sentence.
inputs:
  topic:
    type: string
    description: What it is about.
    default: the weather
nodes:
  - id: look
    type: bash
    script: echo looking at {{ inputs.topic }}

  - id: each
    type: foreach
    depends_on: [look]
    items: "{{ ['one', 'two', 'three'] }}"
    body:
      - id: work
        type: bash
        script: echo working on {{ item }}

  - id: agree
    type: approval
    depends_on: [each]
    message: All three are done. Go on?

  - id: finish
    type: bash
    depends_on: [agree]
    script: echo done
`;
