"""`python -m sim_hardware.command`."""

from sim_hardware.command.main import main

main()
