(** Random variables as KeyedChains.v assumes them exist: for any finitely many laws and coins one that answers each of them
    with its own law.  Here the answers are drawn apart; those of one race of exponential clocks are not, which makes no
    difference to what is proved. *)

Require Import Reals Lra List Arith.
Require Import Programs Numbers Means.
Import ListNotations RealPrograms.
Open Scope R_scope.

Section Races.
Variable V : nat.
Notation total := (total V).
Notation mean := (mean V).

(** A token of each row, and a side of each coin. *)
Definition secret := (list token * list bool)%type.

Fixpoint tokens (rows : list row) : program (list token) :=
  match rows with [] => Return [] | r :: rows => Choose r (fun x => bind (tokens rows) (fun l => Return (x :: l))) end.
Fixpoint tosses (coins : list R) : program (list bool) :=
  match coins with [] => Return [] | a :: coins => Accept a (fun b => bind (tosses coins) (fun l => Return (b :: l))) end.
Definition race (rows : list row) (coins : list R) : program secret :=
  bind (tokens rows) (fun l => bind (tosses coins) (fun k => Return (l, k))).

(** Rows are the same if they are so on the vocabulary. *)
Definition same_row (r s : row) : bool := forallb (fun x => if Req_EM_T (r x) (s x) then true else false) (vocabulary V).
Fixpoint token_for (r : row) (rows : list row) (l : list token) : token :=
  match rows, l with s :: rows, x :: l => if same_row r s then x else token_for r rows l | _, _ => O end.
Fixpoint side_for (a : R) (coins : list R) (l : list bool) : bool :=
  match coins, l with b :: coins, y :: l => if Req_EM_T a b then y else side_for a coins l | _, _ => true end.

Lemma same_total : forall r s f, same_row r s = true -> total (fun x => s x * f x) = total (fun x => r x * f x).
Proof.
  intros r s f S. apply total_ext_in. intros x I. unfold same_row in S. rewrite forallb_forall in S.
  specialize (S x I). simpl in S.
  destruct (Req_EM_T (r x) (s x)) as [->|]; [auto|discriminate].
Qed.

Lemma same_self : forall r, same_row r r = true.
Proof. intros r. apply forallb_forall. intros x _. destruct (Req_EM_T (r x) (r x)); congruence. Qed.

Lemma tokens_proper : forall rows, Forall (is_row V) rows -> proper V (tokens rows) (fun _ => True).
Proof.
  induction 1 as [|r rows L F IH]; simpl; auto. split; auto. intros x _ _. apply (proper_bind V _ _ _ _ _ _ IH). simpl. auto.
Qed.

Lemma tosses_proper : forall coins, Forall (fun a => 0 <= a <= 1) coins -> proper V (tosses coins) (fun _ => True).
Proof.
  induction 1 as [|a coins L F IH]; simpl; auto. split; auto.
  split; intros _; apply (proper_bind V _ _ _ _ _ _ IH); simpl; auto.
Qed.

Theorem race_exists : forall rows coins, Forall (is_row V) rows -> Forall (fun a => 0 <= a <= 1) coins ->
  let answer (w : secret) r := token_for r rows (fst w) in
  let side (w : secret) a := side_for a coins (snd w) in
  proper V (race rows coins) (fun _ => True) /\
  (forall r f, In r rows -> mean (race rows coins) (fun w => f (answer w r)) = total (fun x => r x * f x)) /\
  (forall a f, In a coins -> mean (race rows coins) (fun w => f (side w a)) = a * f true + (1 - a) * f false).
Proof.
  intros rows coins L C. pose proof (tokens_proper rows L) as PL. pose proof (tosses_proper coins C) as PC. repeat split.
  - apply (proper_bind V _ _ _ _ _ _ PL). intros l _. apply (proper_bind V _ _ _ _ _ _ PC). simpl. auto.
  - intros r f I. unfold race. rewrite mean_bind. transitivity (mean (tokens rows) (fun l => f (token_for r rows l))).
    { apply mean_ext. intros l. rewrite mean_bind. exact (mean_const V _ _ _ (f (token_for r rows l)) PC). }
    clear C PC coins PL. induction L as [|s rows Ls L IH]; [destruct I|]. simpl.
    destruct (same_row r s) eqn:S.
    + rewrite <- (same_total r s f S). apply total_ext. intros x. rewrite mean_bind. simpl.
      f_equal. exact (mean_const V _ _ _ (f x) (tokens_proper rows L)).
    + destruct I as [->|I]; [rewrite same_self in S; discriminate|]. rewrite <- (IH I).
      rewrite (total_ext V _ (fun x => s x * mean (tokens rows) (fun l => f (token_for r rows l))));
        [rewrite total_mul_right, (proj2 Ls); ring|]. intros x. rewrite mean_bind. auto.
  - intros a f I. unfold race. rewrite mean_bind. transitivity (mean (tosses coins) (fun l => f (side_for a coins l))).
    { etransitivity; [|exact (mean_const V _ _ _ (mean (tosses coins) (fun l => f (side_for a coins l))) PL)].
      apply mean_ext. intros l. rewrite mean_bind. auto. }
    clear L PL rows PC. induction C as [|b coins Lb C IH]; [destruct I|]. simpl. rewrite !mean_bind. simpl.
    destruct (Req_EM_T a b) as [->|D].
    + rewrite (mean_const V _ _ _ (f true) (tosses_proper coins C)), (mean_const V _ _ _ (f false) (tosses_proper coins C)).
      auto.
    + destruct I as [->|I]; [congruence|]. rewrite <- (IH I). ring.
Qed.

End Races.
