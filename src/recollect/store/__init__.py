"""Stores: where memories lie. `contract` says what a store must do; `sqlite` is the embedded one."""
