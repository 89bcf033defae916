"""Pure rules: the job and its transitions, messages, keys, retries and errors. No I/O, no clock, no AWS."""
