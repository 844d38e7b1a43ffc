"""One file a vendor service; each translates the vendor's errors into the tree of `shared.errors`."""
