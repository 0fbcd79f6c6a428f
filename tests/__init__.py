"""Tests of schedscope; what judges the pass here shares no code with it."""
