"""One module per bare core, named as the core with `-` as `_`, that holds its MODEL; no list names them."""
