(** The two kinds of number that the programs are read over: reals for proofs, rationals for evaluation. *)

Require Import Reals QArith Qreduction.
Require Import Programs Rules Python OptimalPlan.

Module Real <: NUMBER.
  Definition num := R.
  Definition zero := 0%R.
  Definition one := 1%R.
  Definition add := Rplus.
  Definition sub := Rminus.
  Definition mul := Rmult.
  Definition div := Rdiv.
  Definition less (x y : R) : bool := if Rlt_dec x y then true else false.
End Real.

Module Rational <: NUMBER.
  Definition num := Q.
  Definition zero := 0%Q.
  Definition one := 1%Q.
  Definition add (x y : Q) := Qred (x + y).
  Definition sub (x y : Q) := Qred (x - y).
  Definition mul (x y : Q) := Qred (x * y).
  Definition div (x y : Q) := Qred (x / y).
  Definition less (x y : Q) : bool := match Qcompare x y with Lt => true | _ => false end.
End Rational.

Module RealPrograms := OptimalPlan.Over Real.
Module RationalPrograms := OptimalPlan.Over Rational.
