"""One random number of the audited function, as what is known about it instead of a value.

Come here if a function does arithmetic on its random numbers that is not followed yet, or if a probability
is wrong. `lazy` is a monotone function of one coin, or a product of several, `forms` the steps of such a
function and the shapes that can be compared with one another, `coin` what all of them share. `state` keeps
the constraints of one run and decides a comparison, `volumes` computes its probability, `sources` say who
answers (every outcome in turn, given numbers, or chance), and `bisection` finds the law of a function that
needs plain numbers.
"""
