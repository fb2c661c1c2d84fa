"""Who has which role: seats fixed or leased, their candidates and views."""
