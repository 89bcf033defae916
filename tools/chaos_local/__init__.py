"""Real kills: pictures flow through the local stack while processes die, at random and at named points."""
