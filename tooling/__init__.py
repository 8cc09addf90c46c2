"""What `dev` is made of: the standard library alone prepares this checkout. No part of the package."""
