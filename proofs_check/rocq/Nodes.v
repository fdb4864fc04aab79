(** A single-step rule, used node by node from the root down, is lossless on every tree (thomas2026delayed; sun2023spectr).

    How a node's siblings are drawn is one law, which token comes out of the node another.  If that token has the
    target's law, so has the text: what was drafted below a token does not depend on what else was drawn.  Two rules
    are such: that of the greedy draft (hu2025towards), and every one that selects a drafted token and judges it
    with the law that a selected token has (khisti2025multidraft, Theorem 1; thomas2026global). *)

Require Import Reals Lra Lia List Arith Permutation.
Require Import Programs Rules Numbers Means Lossless TopDown Lift.
Import ListNotations RealPrograms.
Open Scope R_scope.

(** ** Any rule *)

Section Nodes.
Variable V : nat.
Variable p : context -> row.
Hypothesis p_rows : forall c, is_row V (p c).
Notation total := (total V).
Notation mean := (mean V).
Notation normalise := (normalise V).

(** How the children of a context are drawn: one or more, and at most so many as are asked for. *)
Variable siblings : context -> nat -> program (list token).
Hypothesis siblings_proper : forall c k, proper V (siblings c k)
  (fun tokens => (length tokens <= k)%nat /\ forall x, In x tokens -> In x (vocabulary V)).
Hypothesis siblings_some : forall c k, proper V (siblings c (S k)) (fun tokens => tokens <> []).

(** Every result of the program, whatever its probability. *)
Fixpoint within {A} (m : program A) (post : A -> Prop) : Prop :=
  match m with
  | Return a => post a
  | Choose _ rest => forall x, In x (vocabulary V) -> within (rest x) post
  | Accept _ rest => within (rest true) post /\ within (rest false) post
  end.

Lemma mean_within : forall A (m : program A) post f g, within m post -> (forall a, post a -> f a = g a) -> mean m f = mean m g.
Proof.
  induction m as [a|r rest IH|a rest IH]; simpl; intros post f g W E; auto.
  - apply total_ext_in. intros x I. rewrite (IH x post f g); auto.
  - destruct W as [W1 W2]. rewrite (IH true post f g), (IH false post f g); auto.
Qed.

Variable rule : context -> list token -> program token.
Hypothesis rule_known : forall c tokens, (forall x, In x tokens -> In x (vocabulary V)) ->
  within (rule c tokens) (fun y => In y (vocabulary V)).

(** What comes out of a node has the target's law. *)
Hypothesis rule_valid : forall c k f, mean (bind (siblings c (S k)) (rule c)) f = total (fun y => p c y * f y).

Notation draw_at := (draw_at siblings).
Notation draw_below := (draw_below siblings).
Notation rule_node := (rule_node p rule).
Notation node_by_node := (node_by_node p rule).

Lemma below_mass : forall s c tokens v, mean (draw_below s c tokens) (fun _ => v) = v.
Proof. intros. apply (mean_const V _ _ _ _ (draw_below_proper V siblings siblings_proper s c tokens)). Qed.

Lemma at_mass : forall s c v, mean (draw_at s c (draw_below s c)) (fun _ => v) = v.
Proof.
  intros. apply (mean_const V _ _ _ _ (draw_at_proper V siblings siblings_proper s c _
    (draw_below_proper V siblings siblings_proper s c))).
Qed.

Theorem nodes_follow : forall G, harmonic V p G -> forall s,
  (forall c, mean (bind (draw_at s c (draw_below s c)) (fun d => node_by_node d c)) (emitted V G) = G c) /\
  (forall c tokens y, In y (vocabulary V) ->
    mean (bind (draw_below s c tokens) (fun d => descend rule_node d c y)) (emitted V G) = G (c ++ [y])).
Proof.
  intros G HG. induction s as [|b [Hb _] r [_ Hr]].
  - split; [intros c; simpl; rewrite (HG c); auto|]. intros c [|x tokens] y I; apply (total_point V (fun z => G (c ++ [z])) y I).
  - assert (H : forall c tokens y, In y (vocabulary V) ->
      mean (bind (draw_below (Shape b r) c tokens) (fun d => descend rule_node d c y)) (emitted V G) = G (c ++ [y])).
    { intros c [|x tokens] y I; [apply (total_point V (fun z => G (c ++ [z])) y I)|].
      simpl. rewrite !mean_bind. destruct (Nat.eqb_spec x y) as [->|D].
      - rewrite <- (Hb (c ++ [y])), mean_bind. apply mean_ext. intros d. rewrite mean_bind. simpl.
        rewrite Nat.eqb_refl. apply (below_mass r c tokens).
      - rewrite <- (Hr c tokens y I), mean_bind.
        rewrite (mean_ext V _ _ _ (fun _ => mean (draw_below r c tokens) (fun d => mean (descend rule_node d c y) (emitted V G)))).
        + apply at_mass.
        + intros d. rewrite mean_bind. apply mean_ext. intros e. simpl. destruct (Nat.eqb_spec x y); [contradiction|auto]. }
    split; auto. intros c. set (s := Shape b r) in *.
    change (mean (bind (bind (siblings c (count s)) (draw_below s c)) (fun d => node_by_node d c)) (emitted V G) = G c).
    rewrite (HG c), <- (rule_valid c (count r) (fun y => G (c ++ [y]))), !mean_bind.
    apply (mean_ext_proper V _ _ _ _ _ (proper_and V _ _ _ _ (siblings_proper c (count s)) (siblings_some c (count r)))).
    intros tokens [[L K] N].
    rewrite (mean_ext V _ _ _ (fun d => (fun (drawn : list token) d => match drawn with
      | [] => total (fun y => p c y * G (c ++ [y]))
      | _ => mean (rule c drawn) (fun y => mean (descend rule_node d c y) (emitted V G)) end) (tokens_of d) d)).
    2: { intros [|x below rest]; [reflexivity|]. unfold RealPrograms.node_by_node, RealPrograms.rule_node at 1.
         rewrite mean_bind. reflexivity. }
    rewrite (mean_tokens_of V siblings s c tokens (fun drawn d => match drawn with
      | [] => total (fun y => p c y * G (c ++ [y]))
      | _ => mean (rule c drawn) (fun y => mean (descend rule_node d c y) (emitted V G)) end)) by auto.
    destruct tokens as [|x tokens]; [contradiction|]. rewrite mean_swap.
    apply (mean_within _ _ _ _ _ (rule_known c (x :: tokens) K)). intros y I. rewrite <- (H c (x :: tokens) y I), mean_bind. auto.
Qed.

Theorem nodes_lossless : forall s c, lossless V p c (bind (draw_at s c (draw_below s c)) (fun d => node_by_node d c)).
Proof. intros s c G HG. apply (nodes_follow G HG s). Qed.

End Nodes.

(** ** One token, judged as a single draft *)

Section Single.
Variable V : nat.
Variable p : context -> row.
Hypothesis p_rows : forall c, is_row V (p c).
Notation total := (total V).
Notation mean := (mean V).
Notation normalise := (normalise V).

(** The token that comes out has the target's law, whatever the law [d] of the draft is. *)
Theorem judged_once_valid : forall c d f, is_row V d ->
  total (fun x => d x * mean (judged_once V p c d x) f) = total (fun y => p c y * f y).
Proof.
  intros c d f D. destruct (p_rows c) as [N S]. set (r := excess (p c) d).
  set (w := total (fun y => normalise r y * f y)).
  assert (R : forall x, 0 <= r x) by (intros; apply excess_nonneg).
  assert (W : total r * w = total (fun y => r y * f y)).
  { unfold w. rewrite <- total_mul. apply total_ext_in. intros y I.
    destruct (Rle_lt_or_eq_dec _ _ (total_nonneg V r R)) as [T|Z].
    - rewrite <- Rmult_assoc, normalise_total; auto.
    - rewrite (total_zero V r R (eq_sym Z) y I), <- Z. ring. }
  pose proof (rejected_mass V (p c) d N D) as M. rewrite S in M. fold r in M.
  rewrite (total_ext V _ (fun x => d x * share (p c x) (d x) * f x + d x * (1 - share (p c x) (d x)) * w)).
  - rewrite total_add, total_mul_right, M. replace (total r + (1 - 1)) with (total r) by ring. rewrite W, <- total_add.
    apply total_ext. intros x. rewrite <- Rmult_plus_distr_r. f_equal. apply (accepted_and_residual V (p c) d N D).
  - intros x. unfold judged_once. simpl. fold r. fold w. ring.
Qed.

Lemma judged_once_known : forall c d x, In x (vocabulary V) -> within V (judged_once V p c d x) (fun y => In y (vocabulary V)).
Proof. intros c d x I. simpl. auto. Qed.

(** ** A drafted token is selected (khisti2025multidraft, Theorem 1) *)

Section Selected.
Variable siblings : context -> nat -> program (list token).
Variable weights : context -> list token -> row.
Variable d : context -> nat -> row.
Variable size : context -> nat -> nat.  (** how many are drawn where so many are asked for *)
Hypothesis siblings_proper : forall c k, proper V (siblings c k) (fun tokens =>
  (length tokens <= k)%nat /\ forall x, In x tokens -> In x (vocabulary V)).
Hypothesis siblings_size : forall c k, proper V (siblings c (S k)) (fun tokens => length tokens = S (size c k)).
Hypothesis weights_rows : forall c tokens, is_row V (weights c tokens).

(** [d] is the law of the selected token. *)
Hypothesis selected : forall c k x, In x (vocabulary V) ->
  mean (siblings c (S k)) (fun tokens => weights c tokens x) = d c (S (size c k)) x.
Hypothesis d_rows : forall c k, is_row V (d c k).

Theorem selected_lossless : forall s c, lossless V p c
  (bind (draw_at siblings s c (draw_below siblings s c)) (fun t => node_by_node p (selected_rule V p weights d) t c)).
Proof.
  apply nodes_lossless; auto.
  - intros c k. apply (proper_weaken V _ _ _ _ (siblings_size c k)). intros [|x tokens] E; discriminate.
  - intros c tokens _ x I. apply judged_once_known. auto.
  - intros c k f. rewrite mean_bind, <- (judged_once_valid c (d c (S (size c k))) f (d_rows c _)).
    rewrite (mean_ext_proper V _ _ _ _ (fun tokens => total (fun x =>
      mean (judged_once V p c (d c (S (size c k))) x) f * weights c tokens x)) (siblings_size c k)).
    + rewrite (mean_total V _ _ (fun x tokens => _ * weights c tokens x)). apply total_ext_in. intros x I.
      rewrite mean_mul, (selected c k x I). ring.
    + intros tokens E. unfold selected_rule. simpl. rewrite E. apply total_ext. intros x. ring.
Qed.

End Selected.
End Single.

(** ** The greedy draft *)

Section Greedy.
Variable V : nat.
Variables p q : context -> row.
Hypothesis p_rows : forall c, is_row V (p c).
Hypothesis q_rows : forall c, is_row V (q c).
Variable top : context -> nat -> list token.
Hypothesis top_count : forall c n, (length (top c n) <= n)%nat.
Hypothesis top_known : forall c n x, In x (top c n) -> In x (vocabulary V).
Hypothesis top_once : forall c n, NoDup (top c n).
Hypothesis top_likely : forall c n x, In x (top c n) -> 0 < q c x.
Notation total := (total V).
Notation mean := (mean V).
Notation siblings := (top_and_sample V q top).

Definition masked (c : context) (tokens : list token) : row := fun y => if existsb (Nat.eqb y) tokens then 0 else q c y.

Lemma masked_nonneg : forall c tokens y, 0 <= masked c tokens y.
Proof. intros. unfold masked. destruct (existsb _ _); [lra|apply q_rows]. Qed.

Lemma off_row : forall c tokens, 0 < total (off V (q c) tokens) -> is_row V (off V (q c) tokens).
Proof.
  intros c tokens T. apply (normalise_row V (masked c tokens)); [apply masked_nonneg|].
  destruct (Rlt_dec 0 (total (masked c tokens))) as [|L]; auto.
  change (off V (q c) tokens) with (normalise V (masked c tokens)) in T. rewrite normalise_empty in T; auto.
Qed.

Lemma listed : forall y tokens, existsb (Nat.eqb y) tokens = true <-> In y tokens.
Proof.
  intros y tokens. rewrite existsb_exists. split.
  - intros [z [I E]]. apply Nat.eqb_eq in E. subst. auto.
  - intros I. exists y. split; auto. apply Nat.eqb_refl.
Qed.

(** Where the row has no mass off the likeliest tokens, it has the first one alone off the others. *)
Lemma off_others : forall c x more, In x (vocabulary V) -> ~ In x more -> 0 < q c x -> ~ 0 < total (off V (q c) (x :: more)) ->
  is_row V (off V (q c) more) /\ off V (q c) more x = 1 /\ (forall y, In y (vocabulary V) -> y <> x -> off V (q c) more y = 0).
Proof.
  intros c x more I O L T.
  assert (Z : total (masked c (x :: more)) = 0).
  { destruct (Rle_lt_or_eq_dec _ _ (total_nonneg V _ (masked_nonneg c (x :: more)))) as [P|E]; auto. exfalso. apply T.
    pose proof (normalise_row V _ (masked_nonneg c (x :: more)) P) as [_ E].
    change (off V (q c) (x :: more)) with (normalise V (masked c (x :: more))). rewrite E. lra. }
  assert (E : forall y, In y (vocabulary V) -> masked c more y = q c x * (if (x =? y)%nat then 1 else 0)).
  { intros y J. destruct (Nat.eqb_spec x y) as [<-|D].
    - unfold masked. destruct (existsb (Nat.eqb x) more) eqn:B; [apply listed in B; contradiction|lra].
    - pose proof (total_zero V _ (masked_nonneg c (x :: more)) Z y J) as Y. unfold masked in *. simpl in Y.
      destruct (Nat.eqb_spec y x); [congruence|]. simpl in Y. rewrite Y. lra. }
  assert (M : total (masked c more) = q c x).
  { rewrite (total_ext_in V _ _ E), (total_single V (fun _ => q c x) x 1 I). ring. }
  assert (N : forall y, In y (vocabulary V) -> off V (q c) more y = if (x =? y)%nat then 1 else 0).
  { intros y J. apply (Rmult_eq_reg_l (q c x)); [|lra]. rewrite <- (E y J), <- M at 1.
    apply (normalise_total V (masked c more)). lra. }
  split; [apply (normalise_row V (masked c more)); [apply masked_nonneg|lra]|]. split.
  - rewrite (N x I), Nat.eqb_refl. auto.
  - intros y J D. rewrite (N y J). destruct (Nat.eqb_spec x y); congruence.
Qed.

Lemma greedy_valid : forall c k f, mean (bind (siblings c (S k)) (hu_rule V p q c)) f = total (fun y => p c y * f y).
Proof.
  intros c k f. rewrite mean_bind. simpl. destruct (Rlt_dec 0 (total (off V (q c) (top c k)))) as [T|T].
  - simpl. rewrite <- (judged_once_valid V p p_rows c _ f (off_row c (top c k) T)). reflexivity.
  - destruct (top c k) as [|x more] eqn:E; [reflexivity|].
    assert (I : In x (top c k)) by (rewrite E; simpl; auto). pose proof (top_once c k) as O. rewrite E in O.
    inversion O as [|? ? O' _]; subst.
    destruct (off_others c x more (top_known c k x I) O' (top_likely c k x I) T) as [R [X Y]].
    rewrite <- (judged_once_valid V p p_rows c _ f R).
    rewrite (total_ext_in V _ (fun y => mean (judged_once V p c (off V (q c) more) y) f * (if (x =? y)%nat then 1 else 0))).
    + rewrite (total_single V _ x 1 (top_known c k x I)), Rmult_1_r. reflexivity.
    + intros y J. destruct (Nat.eqb_spec x y) as [<-|D]; [rewrite X; ring|rewrite (Y y J) by auto; ring].
Qed.

Lemma greedy_proper : forall c k, proper V (siblings c k) (fun tokens =>
  (length tokens <= k)%nat /\ forall x, In x tokens -> In x (vocabulary V)).
Proof.
  intros c [|k]; simpl; [split; [auto|intros x []]|]. pose proof (top_count c k).
  destruct (Rlt_dec 0 (total (off V (q c) (top c k)))) as [T|T]; simpl.
  - split; [apply off_row; auto|]. intros x I _. split; [lia|]. intros y [<-|J]; auto. apply (top_known c k y J).
  - split; [lia|]. apply top_known.
Qed.

Lemma greedy_some : forall c k, proper V (siblings c (S k)) (fun tokens => tokens <> []).
Proof.
  intros c k. simpl. destruct (Rlt_dec 0 (total (off V (q c) (top c k)))) as [T|T]; simpl.
  - split; [apply off_row; auto|discriminate].
  - intros E. rewrite E in T. apply T. pose proof (normalise_row V (masked c []) (masked_nonneg c [])) as [_ S].
    + change (0 < total (q c)). destruct (q_rows c) as [_ ->]. lra.
    + change (off V (q c) []) with (normalise V (masked c [])). rewrite S. lra.
Qed.

Lemma grow_below : forall s c tokens f, mean (grow V q top s c tokens) f = mean (draw_below siblings s c tokens) f.
Proof.
  induction s as [|b IHb r IHr]; intros c [|x tokens] f; [reflexivity|reflexivity|reflexivity|].
  assert (B : forall g, mean (bind (siblings (c ++ [x]) (count b)) (grow V q top b (c ++ [x]))) g =
                        mean (draw_at siblings b (c ++ [x]) (draw_below siblings b (c ++ [x]))) g).
  { intros g. rewrite mean_bind. destruct b as [|b1 b2]; [reflexivity|]. unfold draw_at. rewrite mean_bind.
    apply mean_ext. intros drawn. apply IHb. }
  transitivity (mean (draw_at siblings b (c ++ [x]) (draw_below siblings b (c ++ [x])))
    (fun d => mean (draw_below siblings r c tokens) (fun e => f (Child x d e)))).
  - rewrite <- B. cbn [RealPrograms.grow]. rewrite (mean_bind V _ _ (bind _ _)). apply mean_ext. intros d.
    rewrite mean_bind. apply IHr.
  - cbn [draw_below]. symmetry. rewrite mean_bind. apply mean_ext. intros d. rewrite mean_bind. reflexivity.
Qed.

Theorem greedy_draft_lossless : forall s c, lossless V p c (bind (draw_greedy V q top s c) (fun d => hu_greedy V p q d c)).
Proof.
  intros s c G HG. rewrite <- (nodes_lossless V p siblings greedy_proper greedy_some (hu_rule V p q)
    (fun c tokens => match tokens with [] => fun _ x I => I | x :: _ => fun K => judged_once_known V p c _ x (K x (or_introl eq_refl)) end)
    greedy_valid s c G HG).
  unfold draw_greedy. rewrite !mean_bind. destruct s as [|b r]; [reflexivity|]. unfold draw_at. rewrite mean_bind.
  apply mean_ext. intros drawn. apply grow_below.
Qed.

End Greedy.

(** With the likeliest tokens, as theory/drafts/greedy.py draws. *)
Theorem hu_greedy_lossless : forall V p q, (forall c, is_row V (p c)) -> (forall c, is_row V (q c)) -> forall s c,
  lossless V p c (bind (draw_greedy V q (fun c => likeliest V (q c)) s c) (fun d => hu_greedy V p q d c)).
Proof.
  intros V p q P Q s c.
  assert (S : forall r, Permutation (vocabulary V) (fold_right (place (fun y x => Real.less (r x) (r y))) [] (vocabulary V))).
  { intros r. induction (vocabulary V) as [|x l IH]; simpl; auto.
    apply perm_trans with (1 := perm_skip x IH). generalize (fold_right (place (fun y x => Real.less (r x) (r y))) [] l).
    induction l0 as [|y more IHm]; simpl; auto. destruct (Real.less (r x) (r y)); auto.
    apply perm_trans with (y :: x :: more); [apply perm_swap|auto]. }
  assert (F : forall (r : row) n x, In x (likeliest V r n) -> In x (vocabulary V) /\ 0 < r x).
  { intros r n x I. apply filter_In in I. destruct I as [I L]. split.
    - apply (Permutation_in _ (Permutation_sym (S r))). rewrite <- (firstn_skipn n). apply in_or_app. auto.
    - simpl in L. destruct (Rlt_dec 0 (r x)); [auto|discriminate]. }
  apply greedy_draft_lossless; auto.
  - intros d n. assert (L : forall (f : token -> bool) l, (length (filter f l) <= length l)%nat)
      by (intros f; induction l as [|x l IH]; simpl; [auto|destruct (f x); simpl; lia]).
    apply Nat.le_trans with (1 := L _ _), firstn_le_length.
  - intros d n x I. apply (F (q d) n x I).
  - intros d n. apply NoDup_filter. pose proof (Permutation_NoDup (S (q d)) (seq_NoDup V 0)) as N.
    assert (K : forall (l : list token) n, NoDup l -> NoDup (firstn n l)).
    { induction l as [|x l IH]; intros [|m] M; simpl; try apply NoDup_nil. inversion M as [|? ? O M']; subst.
      apply NoDup_cons; [|apply IH; auto]. intros I. apply O. rewrite <- (firstn_skipn m l). apply in_or_app. auto. }
    apply (K _ n N).
  - intros d n x I. apply (F (q d) n x I).
Qed.
