(** K i.i.d. paths merged by prefix (sun2023spectr) are a tree whose siblings are drawn in order without
    replacement, so recursive rejection and Traversal Verification are lossless on them.

    Given the first path's token at a node, how many of the other paths repeat it is decided by one coin a path;
    the rest of these go on below it, and the others are i.i.d. paths whose first token is another one. *)

Require Import Reals Lra Lia List Arith.
Require Import Programs Numbers Means Lossless Traversal RecursiveRejection Chains.
Import ListNotations RealPrograms.
Open Scope R_scope.

Section Paths.
Variable V : nat.
Variables p q : context -> row.
Hypothesis p_rows : forall c, is_row V (p c).
Hypothesis q_rows : forall c, is_row V (q c).
Notation total := (total V).
Notation mean := (mean V).
Notation without := (without V).
Notation draw_chain := (draw_chain q).
Notation draw_paths := (draw_paths q).
Notation sampled := (sampled V q (in_order V false)).

(** ** Merging *)

(** What follows [x] on the paths that begin with it, and the paths that do not. *)
Fixpoint tails (x : token) (paths : list (list token)) : list (list token) :=
  match paths with
  | (y :: path) :: more => if (y =? x)%nat then path :: tails x more else tails x more
  | [] :: more => tails x more
  | [] => []
  end.

Fixpoint others (x : token) (paths : list (list token)) : list (list token) :=
  match paths with
  | (y :: path) :: more => if (y =? x)%nat then others x more else (y :: path) :: others x more
  | [] :: more => others x more
  | [] => []
  end.

Lemma merged_first : forall x path more,
  merged ((x :: path) :: more) = Child x (merged (path :: tails x more)) (merged (others x more)).
Proof.
  assert (F : forall x more b r, fold_left insert more (Child x b r) =
                                 Child x (fold_left insert (tails x more) b) (fold_left insert (others x more) r)).
  { intros x. induction more as [|[|y path] more IH]; intros b r; simpl; auto.
    destruct (y =? x)%nat; rewrite IH; reflexivity. }
  intros x path more. unfold merged. simpl. rewrite F. destruct path; reflexivity.
Qed.

(** ** Given the first token of one path *)

(** A path of [S depth] tokens whose first token is drawn from [r]. *)
Definition draw_path (r : row) (depth : nat) (c : context) : program (list token) :=
  Choose r (fun x => bind (draw_chain depth (c ++ [x])) (fun path => Return (x :: path))).

(** How many of [n] paths repeat a token of probability [a], and how many do not. *)
Fixpoint split (n : nat) (a : R) : program (nat * nat) :=
  match n with
  | O => Return (0, 0)%nat
  | S n => bind (split n a) (fun counts => Accept a (fun repeats =>
             Return (if repeats then (S (fst counts), snd counts) else (fst counts, S (snd counts)))))
  end.

Lemma split_proper : forall n a, 0 <= a <= 1 ->
  proper V (split n a) (fun counts => (snd counts <= n)%nat /\ (snd counts = 0%nat \/ a < 1)).
Proof.
  induction n as [|n IH]; simpl; intros a A; auto.
  apply (proper_bind V _ _ _ _ _ _ (IH a A)). intros [s o] [L P]. simpl in *. split; auto.
  split; intros K; simpl; split; auto; lia.
Qed.

Section First.
Variable r : row.
Hypothesis r_row : is_row V r.
Variable x : token.
Hypothesis x_known : In x (vocabulary V).

(** A path either begins with [x], or its first token is drawn without [x]. *)
Lemma one_path : forall depth c f g, (forall y path, (y =? x)%nat = false -> f (y :: path) = g (y :: path)) ->
  mean (draw_path r depth c) f =
  r x * mean (draw_chain depth (c ++ [x])) (fun path => f (x :: path)) +
  (1 - r x) * mean (draw_path (without r x) depth c) g.
Proof.
  intros depth c f g E. simpl. rewrite (with_or_without V r r_row x x_known), mean_bind. do 2 f_equal.
  apply total_ext. intros y. destruct (Nat.eqb_spec y x) as [->|D].
  - rewrite without_self by apply r_row. ring.
  - f_equal. rewrite !mean_bind. apply mean_ext. intros path. apply E, Nat.eqb_neq. auto.
Qed.

Lemma split_paths : forall depth c n (F : list (list token) -> list (list token) -> R),
  mean (runs n (draw_path r depth c)) (fun paths => F (tails x paths) (others x paths)) =
  mean (split n (r x)) (fun counts =>
    mean (runs (fst counts) (draw_chain depth (c ++ [x]))) (fun same =>
    mean (runs (snd counts) (draw_path (without r x) depth c)) (fun other => F same other))).
Proof.
  intros depth c. induction n as [|n IH]; intros F; [reflexivity|].
  cbn [runs split]. rewrite !mean_bind.
  rewrite (one_path depth c _ (fun path =>
    mean (runs n (draw_path r depth c)) (fun more => F (tails x more) (path :: others x more)))).
  2: { intros y path D. rewrite mean_bind. simpl. rewrite D. auto. }
  rewrite (mean_ext V _ (draw_path (without r x) depth c) _ (fun path =>
    mean (split n (r x)) (fun counts =>
      mean (runs (fst counts) (draw_chain depth (c ++ [x]))) (fun same =>
      mean (runs (snd counts) (draw_path (without r x) depth c)) (fun other => F same (path :: other))))))
    by (intros path; apply (IH (fun same other => F same (path :: other)))).
  rewrite (mean_ext V _ (draw_chain depth (c ++ [x])) _ (fun path =>
    mean (split n (r x)) (fun counts =>
      mean (runs (fst counts) (draw_chain depth (c ++ [x]))) (fun same =>
      mean (runs (snd counts) (draw_path (without r x) depth c)) (fun other => F (path :: same) other))))).
  2: { intros path. rewrite mean_bind. simpl. rewrite Nat.eqb_refl.
       apply (IH (fun same other => F (path :: same) other)). }
  rewrite !(mean_swap V _ _ _ (split n (r x))), <- !mean_mul, <- mean_add. apply mean_ext. intros [s o].
  cbn [fst snd]. generalize (draw_path (without r x) depth c) (draw_chain depth (c ++ [x])). intros other same.
  simpl. f_equal; f_equal.
  - rewrite mean_bind. apply mean_ext. intros path. rewrite mean_bind. auto.
  - rewrite mean_swap. apply mean_ext. intros paths. rewrite mean_bind. apply mean_ext. intros path.
    rewrite mean_bind. auto.
Qed.

End First.

(** ** Merged paths are drawn in order *)

Definition merge (paths : program (list (list token))) : program children :=
  bind paths (fun paths => Return (merged paths)).

Lemma siblings_sampled : forall depth,
  (forall n c, sampled c (q c) (merge (runs n (draw_chain depth c)))) ->
  forall n c r, n = 0%nat \/ is_row V r -> sampled c r (merge (runs n (draw_path r depth c))).
Proof.
  intros depth H n. induction n as [n IH] using lt_wf_ind. intros c r [->|R]; [apply no_child|].
  destruct n as [|n]; [apply no_child|].
  apply (same_law V q _ c r (Choose r (fun x => bind (split n (r x)) (fun counts =>
    bind (merge (runs (S (fst counts)) (draw_chain depth (c ++ [x])))) (fun below =>
    bind (merge (runs (snd counts) (draw_path (without r x) depth c))) (fun rest =>
    Return (Child x below rest))))))).
  - apply (first_child V q _ c r (nat * nat) (fun x => split n (r x))
      (fun x counts => In x (vocabulary V) /\ (snd counts <= n)%nat /\ (snd counts = 0%nat \/ r x < 1))
      (fun x counts => merge (runs (S (fst counts)) (draw_chain depth (c ++ [x]))))
      (fun x counts => merge (runs (snd counts) (draw_path (without r x) depth c)))
      (fun x _ => without r x)); auto.
    + intros x I. apply (proper_weaken V _ _ _ _ (split_proper n (r x) (first_mass V r R x I))). auto.
    + intros; reflexivity.
    + intros x counts [I [L Z]]. apply IH; [lia|]. destruct Z; auto. right. apply without_row; auto.
  - intros f. unfold merge at 1. rewrite mean_bind. cbn [runs]. rewrite mean_bind. simpl.
    apply total_ext_in. intros x I. f_equal. rewrite !mean_bind. simpl.
    rewrite (mean_ext V _ _ _ (fun path => mean (split n (r x)) (fun counts =>
      mean (runs (fst counts) (draw_chain depth (c ++ [x]))) (fun same =>
      mean (runs (snd counts) (draw_path (without r x) depth c)) (fun other =>
        f (Child x (merged (path :: same)) (merged other))))))).
    + rewrite mean_swap. apply mean_ext. intros [s o]. simpl. unfold merge. rewrite !mean_bind.
      apply mean_ext. intros path. rewrite !mean_bind. apply mean_ext. intros same. simpl.
      rewrite !mean_bind. auto.
    + intros path. rewrite mean_bind, <- (split_paths r R x I depth c n
        (fun same other => f (Child x (merged (path :: same)) (merged other)))).
      apply mean_ext. intros more. simpl. rewrite merged_first. auto.
Qed.

Theorem paths_sampled : forall depth n c, sampled c (q c) (draw_paths n depth c).
Proof.
  induction depth as [|depth IH]; intros n c.
  - apply (same_law V q _ _ _ _ _ (no_child V q _ c (q c))). intros f. unfold RealPrograms.draw_paths.
    rewrite mean_bind. simpl. assert (E : forall n g, mean (runs n (Return (@nil token))) g = g (repeat [] n)).
    { clear. induction n as [|n IH]; intros g; simpl; auto. rewrite mean_bind. simpl.
      rewrite (IH (fun more => g ([] :: more))). auto. }
    rewrite E. f_equal. clear. induction n as [|n IH]; simpl; auto.
  - apply (siblings_sampled depth IH n c (q c)). auto.
Qed.

(** ** They can have been drawn *)

Lemma runs_proper : forall A (m : program A) post n, proper V m post -> proper V (runs n m) (Forall post).
Proof.
  induction n as [|n IH]; simpl; intros H; auto. apply (proper_bind V _ _ _ _ _ _ H). intros a P.
  apply (proper_bind V _ _ _ _ _ _ (IH H)). simpl. auto.
Qed.

Lemma insert_possible : forall tree path c r, is_row_or_empty V r ->
  possible V q false tree c r -> possible V q false (as_children path) c r ->
  possible V q false (insert tree path) c r.
Proof.
  induction tree as [|y below IHb rest IHr]; intros [|x path] c r R T H; simpl; auto.
  - simpl in T, H. destruct T as [Iy [Py [Tb Tr]]], H as [Ix [Px [H _]]].
    destruct (Nat.eqb_spec x y) as [->|D]; simpl; repeat split; auto.
    + apply IHb; auto. apply q_law, q_rows.
    + apply IHr; auto; [apply (after_row V false); auto|]. simpl. repeat split; auto.
      set (s := fun z : token => if (z =? y)%nat then 0 else r z).
      assert (N : forall z, 0 <= s z) by (intros z; unfold s; destruct (z =? y)%nat; [lra|apply R]).
      assert (S : s x = r x) by (unfold s; destruct (Nat.eqb_spec x y); [contradiction|auto]).
      assert (M : 0 < total s).
      { destruct (Rle_lt_or_eq_dec _ _ (total_nonneg V s N)) as [|Z]; auto.
        pose proof (total_zero V s N (eq_sym Z) x Ix). lra. }
      change (0 < normalise V s x). apply Rmult_lt_reg_l with (total s); auto.
      rewrite normalise_total, Rmult_0_r by auto. lra.
Qed.

Theorem paths_possible : forall depth n c,
  proper V (draw_paths n depth c) (fun siblings => possible V q false siblings c (q c)).
Proof.
  intros depth n c. apply (proper_bind V _ _ _ _ _ _ (runs_proper _ _ _ n (path_possible V q q_rows false depth c))).
  intros paths F. simpl. unfold merged. assert (T : possible V q false NoChild c (q c)) by exact I. revert T.
  generalize NoChild. induction F as [|path more P F IH]; simpl; intros tree T; auto.
  apply IH, insert_possible; auto. apply q_law, q_rows.
Qed.

(** ** The theorems *)

Theorem paths_rejection_lossless : forall count depth c,
  lossless V p c (recursive_rejection_iteration V p q false (draw_paths count depth c) c).
Proof. intros. apply recursive_rejection_lossless, paths_sampled; auto. Qed.

Theorem paths_traversal_lossless : forall count depth c,
  lossless_if V p c (traversal_iteration V p q false (draw_paths count depth c) c).
Proof. intros. apply traversal_lossless, paths_sampled; auto. Qed.

Theorem paths_rejection_proper : forall count depth c,
  proper V (recursive_rejection_iteration V p q false (draw_paths count depth c) c) (stops_below V c).
Proof. intros. apply recursive_rejection_proper, paths_possible; auto. Qed.

Theorem paths_traversal_proper : forall count depth c,
  proper V (traversal_iteration V p q false (draw_paths count depth c) c)
    (fun found => match found with Some s => stops_below V c s | None => False end).
Proof. intros. apply traversal_proper, paths_possible; auto. Qed.

End Paths.
