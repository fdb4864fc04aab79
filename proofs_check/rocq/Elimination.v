(** Elimination without a choice of pivots solves every system whose matrix is positive definite. *)

Require Import Reals Lra Lia List Arith.
Require Import Programs Numbers Means Lossless.
Import ListNotations RealPrograms.
Open Scope R_scope.

Section Elimination.
Variable n : nat.
Notation sum := (total n).

Lemma known : forall k, In k (vocabulary n) <-> (k < n)%nat.
Proof. intros k. unfold vocabulary. rewrite in_seq. lia. Qed.

Lemma nth_mapped : forall A (f : nat -> A) m r d, (r < m)%nat -> nth r (map f (seq 0 m)) d = f r.
Proof.
  intros A f m r d H. rewrite (nth_indep _ d (f 0%nat)) by (rewrite map_length, seq_length; auto).
  rewrite map_nth, seq_nth; auto.
Qed.

Lemma tabled_at : forall A r k, (r < n)%nat -> (k <= n)%nat -> tabled n A r k = A r k.
Proof. intros A r k R K. unfold tabled. rewrite nth_mapped by auto. apply nth_mapped. lia. Qed.

Definition solves (A : nat -> nat -> R) (y : nat -> R) : Prop :=
  forall r, (r < n)%nat -> sum (fun k => A r k * y k) = A r n.

Lemma pivoted_at : forall i A r k, (r < n)%nat -> (k <= n)%nat ->
  pivoted n i A r k = if (r =? i)%nat then A i k / A i i else A r k - A r i * (A i k / A i i).
Proof. intros i A r k R K. unfold pivoted. rewrite tabled_at by auto. auto. Qed.

(** What solves the system after a step solved it before. *)
Lemma step_back : forall i A y, (i < n)%nat -> A i i <> 0 -> solves (pivoted n i A) y -> solves A y.
Proof.
  intros i A y I Z H.
  assert (E : sum (fun k => A i k / A i i * y k) = A i n / A i i).
  { pose proof (H i I) as E. rewrite pivoted_at, Nat.eqb_refl in E by auto. rewrite <- E.
    apply total_ext_in. intros k K. apply known in K. rewrite pivoted_at, Nat.eqb_refl by lia. auto. }
  intros r L. destruct (Nat.eq_dec r i) as [->|D].
  - replace (A i n) with (A i i * (A i n / A i i)) by (field; auto). rewrite <- E, <- total_mul. apply total_ext.
    intros k. field. auto.
  - pose proof (H r L) as F. rewrite pivoted_at in F by auto. apply Nat.eqb_neq in D. rewrite D in F.
    rewrite (total_ext_in n _ (fun k => A r k * y k - A r i * (A i k / A i i * y k))) in F.
    + rewrite total_sub, total_mul, E in F. lra.
    + intros k K. apply known in K. rewrite pivoted_at, D by lia. ring.
Qed.

Variable G : nat -> nat -> R.
Hypothesis definite : forall y, sum (fun k => y k * sum (fun j => y j * G j k)) = 0 -> forall k, (k < n)%nat -> y k = 0.

(** The first [i] columns are done, and what was subtracted from a row are rows before the [i]-th. *)
Definition stage (i : nat) (A : nat -> nat -> R) : Prop := exists L : nat -> nat -> R,
  (forall r k, (r < n)%nat -> (k < n)%nat -> A r k = sum (fun j => L r j * G j k)) /\
  (forall r j, (r < n)%nat -> (i <= j < n)%nat -> j <> r -> L r j = 0) /\
  (forall r, (i <= r < n)%nat -> L r r = 1) /\
  forall r k, (r < n)%nat -> (k < i)%nat -> A r k = if (r =? k)%nat then 1 else 0.

Lemma pivot : forall i A, stage i A -> (i < n)%nat -> A i i <> 0.
Proof.
  intros i A (L & E & O & D & C) I Z.
  assert (Y : L i i = 0); [|rewrite D in Y by lia; lra]. apply (definite (L i)); auto.
  rewrite (total_ext_in n _ (fun k => 0 * 0)); [rewrite total_mul; ring|]. intros k K. apply known in K.
  rewrite <- (E i k) by auto.
  destruct (lt_eq_lt_dec k i) as [[H| ->]|H].
  - rewrite C by auto. replace (i =? k)%nat with false by (symmetry; apply Nat.eqb_neq; lia). ring.
  - rewrite Z. ring.
  - rewrite O by lia. ring.
Qed.

Lemma next_stage : forall i A, stage i A -> (i < n)%nat -> stage (S i) (pivoted n i A).
Proof.
  intros i A H I. pose proof (pivot i A H I) as Z. destruct H as (L & E & O & D & C).
  exists (fun r j => if (r =? i)%nat then L i j / A i i else L r j - A r i * (L i j / A i i)). repeat split.
  - intros r k P K. rewrite pivoted_at by lia. destruct (Nat.eqb_spec r i) as [->|N].
    + rewrite E by auto. unfold Rdiv at 1. rewrite Rmult_comm, <- total_mul. apply total_ext. intros j. field. auto.
    + rewrite (E r k), (E i k) by auto.
      replace (A r i * (sum (fun j => L i j * G j k) / A i i)) with (A r i / A i i * sum (fun j => L i j * G j k)) by
      (field; auto).
      rewrite <- total_mul, <- total_sub. apply total_ext. intros j. field. auto.
  - intros r j P K N. destruct (Nat.eqb_spec r i) as [->|M].
    + rewrite O by lia. field. auto.
    + rewrite (O r j), (O i j) by lia. field. auto.
  - intros r P. replace (r =? i)%nat with false by (symmetry; apply Nat.eqb_neq; lia). rewrite D, (O i r) by lia. field.
    auto.
  - intros r k P K. rewrite pivoted_at by lia. destruct (Nat.eq_dec k i) as [->|M].
    + destruct (Nat.eqb_spec r i); field; auto.
    + rewrite (C i k) by lia. replace (i =? k)%nat with false by (symmetry; apply Nat.eqb_neq; lia).
      destruct (Nat.eqb_spec r i) as [->|N].
      * replace (i =? k)%nat with false by (symmetry; apply Nat.eqb_neq; lia). field. auto.
      * rewrite (C r k) by lia. field. auto.
Qed.

Lemma eliminated : forall m i A, (i + m = n)%nat -> stage i A ->
  solves A (fun r => fold_left (fun A i => pivoted n i A) (seq i m) A r n).
Proof.
  induction m as [|m IH]; intros i A P H; simpl.
  - intros r K. destruct H as (L & _ & _ & _ & C). rewrite (total_ext_in n _ (fun k => A k n * (if (r =? k)%nat then 1
    else 0))).
    + rewrite (total_single n (fun k => A k n) r 1) by (apply known; auto). ring.
    + intros k J. apply known in J. rewrite C by lia. ring.
  - apply (step_back i); [lia|apply (pivot i A H); lia|]. apply IH; [lia|]. apply next_stage; auto. lia.
Qed.

Theorem solved_solves : forall A, (forall r k, (r < n)%nat -> (k < n)%nat -> A r k = G r k) ->
  solves A (fun r => nth r (solved n A) 0).
Proof.
  intros A H r K. assert (S : stage 0 (tabled n A)).
  { exists (fun r j => if (r =? j)%nat then 1 else 0). repeat split.
    - intros i k I J. rewrite tabled_at, H by lia. rewrite (total_ext n _ (fun j => G j k * (if (i =? j)%nat then 1 else
      0))) by (intros; ring).
      rewrite (total_single n (fun j => G j k) i 1) by (apply known; auto). ring.
    - intros i j I J D. replace (i =? j)%nat with false by (symmetry; apply Nat.eqb_neq; lia). auto.
    - intros i I. rewrite Nat.eqb_refl. auto.
    - intros i k I J. lia. }
  pose proof (eliminated n 0 _ eq_refl S r K) as E. rewrite tabled_at in E by lia. rewrite <- E. apply total_ext_in.
  intros k J. apply known in J. rewrite tabled_at by lia. f_equal. unfold solved. rewrite nth_mapped by auto. auto.
Qed.

End Elimination.
