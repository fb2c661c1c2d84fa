"""`supernoded-reflex`: the small process that bridges UPSes to PDUs where a site has no direct line."""
