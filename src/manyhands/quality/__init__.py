"""Quality: how healthy code is, measured: functions, imports, copies, and the scores made of them."""
