"""What the daemon must remember: tables, one writer on one database, the sentences one may write and the questions one may ask."""
