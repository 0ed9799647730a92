"""PATE: many teachers, each trained on other people, vote on labels; noise on the votes hides every one of them."""
