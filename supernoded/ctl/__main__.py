"""`python -m supernoded.ctl`, for a checkout that is not installed."""

from supernoded.ctl.main import main

main()
