"""Does lint's picture of a module agree with the real compilers?"""
