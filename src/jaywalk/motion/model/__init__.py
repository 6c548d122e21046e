"""The compact model of how people move: trained on captures, shipped instead of them."""
