(** One block is enough (sun2025block, Definition 1 and Lemma 2; weng2025traversal, Lemma A.1).

    A rule whose block, completed by the target, has the target's law keeps every quantity of the text that is the
    mean of its own values one target token later.  So any number of calls keeps it, and the text that they end
    with has the target's law.  A call may read a state that earlier calls left, such as any function of the text,
    and leave one, as long as it is lossless in every state that it may be in. *)

Require Import Reals Lra Lia List Arith.
Require Import Programs Numbers Means Lossless Traversal RecursiveRejection Chains BlockOptimal.
Import ListNotations RealPrograms.
Open Scope R_scope.

Section Texts.
Variable V : nat.
Notation total := (total V).
Notation mean := (mean V).

(** ** Sums over all words of [n] tokens *)

Definition known (u : list token) : Prop := forall x, In x u -> In x (vocabulary V).

Fixpoint words (n : nat) (f : list token -> R) : R :=
  match n with O => f [] | S n => total (fun x => words n (fun u => f (x :: u))) end.

Lemma known_app : forall u v, known u -> known v -> known (u ++ v).
Proof. intros u v U W x I. apply in_app_or in I. destruct I; auto. Qed.

Lemma known_cons : forall x u, In x (vocabulary V) -> known u -> known (x :: u).
Proof. intros x u I U y [<-|J]; auto. Qed.

Lemma known_tail : forall x u, known (x :: u) -> In x (vocabulary V) /\ known u.
Proof. intros x u K. split; [apply K; simpl; auto|intros y I; apply K; simpl; auto]. Qed.

Lemma words_ext : forall n f g, (forall u, length u = n -> known u -> f u = g u) -> words n f = words n g.
Proof.
  induction n as [|n IH]; simpl; intros f g E; [apply E; auto; intros x []|].
  apply total_ext_in. intros x I. apply IH. intros u L U. apply E; [simpl; auto|apply known_cons; auto].
Qed.

Lemma words_le : forall n f g, (forall u, length u = n -> known u -> f u <= g u) -> words n f <= words n g.
Proof.
  induction n as [|n IH]; simpl; intros f g E; [apply E; auto; intros x []|].
  assert (H : forall x, In x (vocabulary V) -> words n (fun u => f (x :: u)) <= words n (fun u => g (x :: u))).
  { intros x I. apply IH. intros u L U. apply E; [simpl; auto|apply known_cons; auto]. }
  unfold RealPrograms.total. induction (vocabulary V) as [|y l IHl]; simpl in *; [lra|].
  apply Rplus_le_compat; auto.
Qed.

Lemma words_add : forall n f g, words n (fun u => f u + g u) = words n f + words n g.
Proof. induction n as [|n IH]; simpl; intros; auto. rewrite <- total_add. apply total_ext. intros. apply IH. Qed.

Lemma words_mul : forall n a f, words n (fun u => a * f u) = a * words n f.
Proof. induction n as [|n IH]; simpl; intros; auto. rewrite <- total_mul. apply total_ext. intros. apply IH. Qed.

Lemma words_sub : forall n f g, words n (fun u => f u - g u) = words n f - words n g.
Proof.
  intros. replace (words n f - words n g) with (words n f + -1 * words n g) by lra.
  rewrite <- words_mul, <- words_add. apply words_ext. intros. lra.
Qed.

Lemma words_total : forall n (f : token -> list token -> R),
  words n (fun u => total (fun y => f y u)) = total (fun y => words n (f y)).
Proof.
  induction n as [|n IH]; intros f; [reflexivity|]. simpl.
  rewrite (total_swap V (fun y x => words n (fun u => f y (x :: u)))). apply total_ext. intros x.
  apply (IH (fun y u => f y (x :: u))).
Qed.

Lemma mean_words : forall A (m : program A) n (f : list token -> A -> R),
  mean m (fun a => words n (fun u => f u a)) = words n (fun u => mean m (f u)).
Proof.
  intros A m. induction n as [|n IH]; simpl; intros f; auto.
  rewrite (mean_total V A m (fun x a => words n (fun u => f (x :: u) a))). apply total_ext. intros x. apply IH.
Qed.

(** ** What one call must keep *)

Variable p : context -> row.
Hypothesis p_rows : forall c, is_row V (p c).

(** The value at a text is the mean over its continuations by the target to [n] tokens after [c]. *)
Lemma continued : forall G, harmonic V p G -> forall n e c, (length e <= n)%nat -> known e ->
  G (c ++ e) = words n (fun u => reach p u e c * G (c ++ u)).
Proof.
  intros G HG. induction n as [|n IH]; intros e c L K.
  - destruct e; [simpl; lra|simpl in L; lia].
  - simpl. destruct e as [|y e].
    + rewrite app_nil_r, (HG c). apply total_ext. intros x.
      pose proof (IH [] (c ++ [x]) (Nat.le_0_l n) (fun z I => match I with end)) as E. rewrite app_nil_r in E.
      rewrite E, <- words_mul. apply words_ext. intros u _ _. rewrite <- app_assoc. simpl. lra.
    + destruct (known_tail y e K) as [Y E]. rewrite (app_assoc c [y] e : c ++ y :: e = _).
      rewrite (IH e (c ++ [y])); [|simpl in L; lia|auto].
      rewrite <- (Rmult_1_l (words n _)), <- (total_single V (fun _ => 1) y _ Y). apply total_ext. intros x.
      destruct (Nat.eqb_spec x y) as [->|D].
      * rewrite Nat.eqb_refl, Rmult_1_l. apply words_ext. intros u _ _. rewrite <- app_assoc. auto.
      * replace (y =? x)%nat with false by (symmetry; apply Nat.eqb_neq; auto).
        rewrite Rmult_0_r, (words_ext n _ (fun u => 0 * 0)) by (intros; lra). rewrite words_mul. lra.
Qed.

(** The probability that the text [d], continued by the target, begins with [u]. *)
Definition completes (u d : context) : R := reach p u d [].

Lemma completes_empty : forall u c, completes (c ++ u) c = joint p u c.
Proof.
  intros u c. unfold completes. rewrite reach_from. revert c.
  induction u as [|x u IH]; simpl; intros; auto. rewrite IH. auto.
Qed.

Lemma completes_harmonic : forall u, known u -> harmonic V p (completes u).
Proof. intros u U. apply reach_harmonic; auto. Qed.

(** A stop at most [depth] tokens below [c], whose extra token is drawn from a row. *)
Definition stops_within (depth : nat) (c : context) (found : option stop) : Prop :=
  match found with
  | Some (d, r) => (exists e, d = c ++ e /\ (length e <= depth)%nat /\ known e) /\ is_row V r
  | None => False
  end.

(** The block, completed by the target to one token more than the draft has, has the target's law. *)
Definition block_valid (depth : nat) (c : context) (iteration : program (option stop)) : Prop :=
  forall u, length u = S depth -> known u -> mean iteration (emitted_if V (completes (c ++ u))) = joint p u c.

Theorem valid_lossless : forall depth c iteration, proper V iteration (stops_within depth c) ->
  block_valid depth c iteration -> lossless_if V p c iteration.
Proof.
  intros depth c iteration P B. split.
  - intros G HG.
    rewrite (mean_ext_proper V _ _ _ _ (fun found =>
      words (S depth) (fun u => G (c ++ u) * emitted_if V (completes (c ++ u)) found)) P).
    + rewrite mean_words. transitivity (G (c ++ [])); [|rewrite app_nil_r; auto].
      rewrite (continued G HG (S depth) [] c); [|simpl; lia|intros x []].
      apply words_ext. intros u L U. rewrite mean_mul, (B u L U), <- completes_empty.
      unfold completes. rewrite reach_from. lra.
    + intros [[d r]|] F; [|contradiction]. destruct F as [[e [-> [L K]]] _]. unfold emitted_if, emitted.
      rewrite (words_ext _ _ (fun u => total (fun y => r y * (completes (c ++ u) ((c ++ e) ++ [y]) * G (c ++ u))))).
      * assert (E : forall n (f : token -> list token -> R),
          words n (fun u => total (fun y => f y u)) = total (fun y => words n (f y))).
        { induction n as [|n IH]; intros f; [reflexivity|]. simpl. rewrite total_swap. apply total_ext. intros x. apply IH. }
        rewrite E. apply total_ext_in. intros y I. rewrite words_mul. f_equal. rewrite <- app_assoc.
        rewrite (continued G HG (S depth) (e ++ [y]) c).
        -- apply words_ext. intros u _ _. unfold completes. rewrite (reach_app p c u (e ++ [y]) []). auto.
        -- rewrite app_length. simpl. lia.
        -- apply known_app; auto. apply known_cons; auto. intros z [].
      * intros u _ _. rewrite <- total_mul. apply total_ext. intros y. ring.
  - rewrite (mean_ext_proper V _ _ _ rejected (fun _ => 0) P).
    + rewrite (mean_const V _ _ _ _ P). auto.
    + intros [s|] S; [reflexivity|contradiction].
Qed.

Theorem lossless_valid : forall depth c iteration, known c -> lossless_if V p c iteration ->
  block_valid depth c iteration.
Proof.
  intros depth c iteration K [L _] u _ U. rewrite (L _ (completes_harmonic (c ++ u) (known_app c u K U))).
  apply completes_empty.
Qed.

(** A lossless iteration, with its extra token drawn, keeps every harmonic quantity. *)
Lemma ends_keeps : forall c iteration G, lossless_if V p c iteration -> harmonic V p G ->
  mean (ends c iteration) G = G c.
Proof.
  intros c iteration G [L N] HG. unfold ends. rewrite mean_bind, <- (L G HG).
  rewrite (mean_ext V _ _ _ (fun found => match found with Some s => emitted_if V G (Some s) | None => G c end))
    by (intros [[d r]|]; reflexivity).
  rewrite split_emitted, N. lra.
Qed.

(** ** Any number of calls *)

Section Calls.
Context {state : Type}.
Variable call : state -> context -> program (state * context).
Variable may_be : state -> context -> Prop.  (** the states that a call may find, with their texts *)

Definition keeps : Prop := forall s c G, may_be s c -> harmonic V p G ->
  mean (call s c) (fun next => G (snd next)) = G c.

(** Calls add a token or more, and leave states that a call may find. *)
Definition goes_on (c : context) (next : state * context) : Prop :=
  may_be (fst next) (snd next) /\ exists e, e <> [] /\ snd next = c ++ e.

Hypothesis call_keeps : keeps.
Hypothesis call_proper : forall s c, may_be s c -> proper V (call s c) (goes_on c).

Theorem calls_lossless : forall n s c G, may_be s c -> harmonic V p G -> mean (calls call n s c) G = G c.
Proof.
  induction n as [|n IH]; intros s c G M HG; simpl; auto.
  rewrite mean_bind, <- (call_keeps s c G M HG).
  apply (mean_ext_proper V _ _ _ _ _ (call_proper s c M)). intros [s' c'] [M' _]. apply IH; auto.
Qed.

Theorem calls_proper : forall n s c, may_be s c ->
  proper V (calls call n s c) (fun text => exists e, (n <= length e)%nat /\ text = c ++ e).
Proof.
  induction n as [|n IH]; intros s c M; simpl; [exists []; rewrite app_nil_r; auto|].
  apply (proper_bind V _ _ _ _ _ _ (call_proper s c M)). intros [s' c'] [M' [e [E F]]]. simpl in M', F. subst c'.
  apply (proper_weaken V _ _ _ _ (IH s' (c ++ e) M')). intros text [e' [L ->]].
  exists (e ++ e'). rewrite app_assoc, app_length. destruct e; [congruence|simpl; split; auto; lia].
Qed.

Lemma begins_completes : forall u d, (length u <= length d)%nat -> begins u d = completes u d.
Proof.
  unfold completes. intros u d. generalize (@nil token) as k. revert d.
  induction u as [|x u IH]; intros [|y d] k L; simpl in *; auto; [lia|].
  destruct (x =? y)%nat; auto. apply IH. lia.
Qed.

(** After so many calls that it has the tokens, the text goes on with [u] as often as the target's. *)
Theorem text_follows : forall n s c u, may_be s c -> known c -> known u -> (length u <= n)%nat ->
  mean (calls call n s c) (begins (c ++ u)) = joint p u c.
Proof.
  intros n s c u M C U L. rewrite <- completes_empty, <- (calls_lossless n s c (completes (c ++ u)) M).
  - apply (mean_ext_proper V _ _ _ _ _ (calls_proper n s c M)). intros text [e [E ->]].
    apply begins_completes. rewrite !app_length. lia.
  - apply completes_harmonic, known_app; auto.
Qed.

(** Generation to a length: the text has that many tokens, and they have the target's law. *)
Theorem generate_proper : forall most wanted s c, may_be s c -> (wanted <= length c + most)%nat ->
  proper V (generate call most wanted s c) (fun text => length text = wanted).
Proof.
  assert (Cut : forall wanted (c : context), (wanted <=? length c)%nat = true -> length (firstn wanted c) = wanted)
    by (intros wanted c E; apply firstn_length_le, Nat.leb_le; auto).
  induction most as [|most IH]; intros wanted s c M L; simpl; destruct (wanted <=? length c)%nat eqn:E; simpl; auto.
  - apply Nat.leb_gt in E. lia.
  - apply (proper_bind V _ _ _ _ _ _ (call_proper s c M)).
    intros [s' c'] [M' [e [N F]]]. simpl in M', F. subst c'. apply IH; auto. rewrite app_length. destruct e; [congruence|simpl; lia].
Qed.

Theorem generated_follows : forall most wanted s c u, may_be s c -> known c -> known u ->
  length (c ++ u) = wanted -> (length u <= most)%nat ->
  mean (generate call most wanted s c) (begins (c ++ u)) = joint p u c.
Proof.
  intros most wanted s c u M C U W L. rewrite <- completes_empty.
  assert (H : forall most s c v, may_be s c -> known v -> length v = wanted -> (wanted <= length c + most)%nat ->
    mean (generate call most wanted s c) (begins v) = completes v c).
  { clear s c u M C U W L most.
    assert (Cut : forall wanted (v c : context), length v = wanted -> begins v (firstn wanted c) = begins v c).
    { intros n v. revert n. induction v as [|x v IH]; intros [|n] [|y c] E; simpl in *; auto; try lia.
      rewrite IH by lia. auto. }
    induction most as [|most IH]; intros s c v M U W L; simpl; destruct (Nat.leb_spec wanted (length c)); simpl.
    - rewrite Cut, begins_completes; auto. lia.
    - lia.
    - rewrite Cut, begins_completes; auto. lia.
    - rewrite mean_bind, <- (call_keeps s c (completes v) M (completes_harmonic v U)).
      apply (mean_ext_proper V _ _ _ _ _ (call_proper s c M)).
      intros [s' c'] [M' [e [N F]]]. simpl in M', F. subst c'. simpl. apply IH; auto. rewrite app_length. destruct e; [congruence|simpl; lia]. }
  apply H; auto; [apply known_app; auto|]. rewrite <- W, app_length. lia.
Qed.

End Calls.

(** ** Rules without memory *)

Definition known_text (_ : unit) (c : context) : Prop := known c.

Section Stateless.
Variable rule : context -> program (option stop).

Lemma stateless_keeps : (forall c, known c -> lossless_if V p c (rule c)) -> keeps (stateless rule) known_text.
Proof. intros L [] c G K HG. unfold stateless. rewrite mean_bind. simpl. apply ends_keeps; auto. Qed.

Lemma stateless_proper : forall depth, (forall c, known c -> proper V (rule c) (stops_within depth c)) ->
  forall s c, known c -> proper V (stateless rule s c) (goes_on known_text c).
Proof.
  intros depth P s c K. unfold stateless, ends.
  apply (proper_bind V _ _ _ _ (fun d => known d /\ exists e, e <> [] /\ d = c ++ e)); [|simpl; auto].
  apply (proper_bind V _ _ _ _ _ _ (P c K)). intros [[d r]|] S; [|contradiction].
  destruct S as [[e [-> [_ E]]] R]. simpl. split; auto. intros y I _. split.
  - apply known_app; [apply known_app; auto|]. apply known_cons; auto. intros z [].
  - exists (e ++ [y]). rewrite app_assoc. split; auto. destruct e; discriminate.
Qed.

(** One block follows the target, from every text, if and only if any number of blocks does. *)
Theorem one_block_is_enough : forall depth, (forall c, known c -> proper V (rule c) (stops_within depth c)) ->
  (forall c, known c -> block_valid depth c (rule c)) <->
  (forall n c u, known c -> known u -> mean (calls (stateless rule) n tt c) (completes (c ++ u)) = joint p u c).
Proof.
  intros depth P. split.
  - intros B n c u K U. rewrite <- completes_empty.
    apply (calls_lossless (stateless rule) known_text); auto.
    + apply stateless_keeps. intros d D. apply (valid_lossless depth); auto.
    + intros s d D. apply (stateless_proper depth); auto.
    + apply completes_harmonic, known_app; auto.
  - intros A c K u _ U. rewrite <- (A 1%nat c u K U). simpl. unfold stateless, ends. rewrite !mean_bind.
    apply (mean_ext_proper V _ _ _ _ _ (P c K)). intros [[d r]|] S; [|contradiction]. reflexivity.
Qed.

End Stateless.
End Texts.

(** ** Chains and trees, whose size may depend on the text *)

Section Verifiers.
Variable V : nat.
Variables p q : context -> row.
Hypothesis p_rows : forall c, is_row V (p c).
Hypothesis q_rows : forall c, is_row V (q c).
Notation mean := (mean V).

Notation known := (known V).

(** A rule whose stops lie below the text it is called with. *)
Definition extends (rule : context -> program (option stop)) : Prop := forall c,
  proper V (rule c) (fun found => match found with Some s => stops_below V c s | None => False end).

Theorem rule_text_follows : forall rule, (forall c, lossless_if V p c (rule c)) -> extends rule ->
  forall n c u, known c -> known u -> (length u <= n)%nat ->
  mean (calls (stateless rule) n tt c) (begins (c ++ u)) = joint p u c.
Proof.
  intros rule L P n c u C U N. apply (text_follows V p p_rows (stateless rule) (fun _ _ => True)); auto.
  - intros [] d G _ HG. unfold stateless. rewrite mean_bind. simpl. apply (ends_keeps V p); auto.
  - intros s d _. unfold stateless, ends.
    apply (proper_bind V _ _ _ _ (fun d' => exists e, e <> [] /\ d' = d ++ e)); [|intros d' E; split; auto].
    apply (proper_bind V _ _ _ _ _ _ (P d)). intros [[d' r]|] S; [|contradiction].
    destruct S as [[e E] R]. simpl in *. split; auto. intros y I _. exists (e ++ [y]). subst d'. rewrite app_assoc.
    split; auto. destruct e; discriminate.
Qed.

Lemma always_lossless : forall c m, proper V m (stops_below V c) -> lossless V p c m -> lossless_if V p c (always_stops m).
Proof.
  intros c m P L. unfold always_stops. split; intros; rewrite mean_bind; simpl; [apply L; auto|apply (mean_const V _ _ _ _ P)].
Qed.

Lemma always_extends : forall rule, (forall c, proper V (rule c) (stops_below V c)) ->
  extends (fun c => always_stops (rule c)).
Proof. intros rule P c. apply (proper_bind V _ _ _ _ _ _ (P c)). simpl. auto. Qed.

Lemma token_proper : forall depth c, proper V (token_iteration V p q depth c) (stops_below V c).
Proof.
  intros depth c. apply (proper_bind V _ _ _ _ _ _ (path_possible V q q_rows true depth c)). intros path. revert c.
  induction path as [|x rest IH]; intros c H; simpl.
  - split; [exists []; rewrite app_nil_r; auto|apply p_rows].
  - destruct H as [I [Q [B _]]]. split; [apply share_bounds, p_rows|]. split; intros A.
    + apply (proper_weaken V _ _ _ _ (IH (c ++ [x]) B)). apply stops_deeper.
    + simpl. split; [exists []; simpl; rewrite app_nil_r; auto|]. simpl. apply normalise_row; [intros; apply excess_nonneg|].
      assert (E : 0 < excess (q c) (p c) x).
      { rewrite excess_min, Rmin_right by (apply Rlt_le, share_below_one; auto).
        apply share_below_one in A. lra. }
      pose proof (excess_difference V (p c) (q c)) as D. rewrite (proj2 (p_rows c)), (proj2 (q_rows c)) in D.
      assert (N : forall y, 0 <= excess (q c) (p c) y) by (intros; apply excess_nonneg).
      destruct (Rle_lt_or_eq_dec _ _ (total_nonneg V _ N)) as [|Z]; [lra|].
      rewrite (total_zero V _ N (eq_sym Z) x I) in E. lra.
Qed.

Lemma block_path_proper : forall path c, possible V q true (as_children path) c (q c) ->
  proper V (block_verify V p q path c) (fun found => match found with Some s => stops_below V c s | None => False end).
Proof.
  intros path c H. unfold block_verify. rewrite <- (block_is_traversal V p q true).
  apply (proper_weaken V _ _ (fun found => match found with Some s => stops_below V c s | None => 1 < 1 end)).
  - apply traverse_proper; auto; [apply q_law, q_rows|split; [lra|right; apply p_rows]].
  - intros [s|]; auto. lra.
Qed.

Lemma block_proper : forall depth c, proper V (block_iteration V p q depth c)
  (fun found => match found with Some s => stops_below V c s | None => False end).
Proof.
  intros depth c. apply (proper_bind V _ _ _ _ _ _ (path_possible V q q_rows true depth c)).
  intros path. apply block_path_proper.
Qed.

(** The text of any number of calls begins with [u] as often as the target's, whatever chain or tree is drafted after
    which text. *)
Theorem verifiers_text_follow : forall (depth : context -> nat) (tree : context -> shape) replacement n c u,
  known c -> known u -> (length u <= n)%nat ->
  let text rule := mean (calls (stateless rule) n tt c) (begins (c ++ u)) in
  let draft c := draw V q replacement (tree c) c (q c) in
  text (fun c => always_stops (token_iteration V p q (depth c) c)) = joint p u c /\
  text (fun c => block_iteration V p q (depth c) c) = joint p u c /\
  text (fun c => always_stops (recursive_rejection_iteration V p q replacement (draft c) c)) = joint p u c /\
  text (fun c => traversal_iteration V p q replacement (draft c) c) = joint p u c.
Proof.
  intros depth tree replacement n c u C U N text draft. unfold text, draft. repeat split; apply rule_text_follows; auto.
  - intros d. apply always_lossless; [apply token_proper|apply token_lossless; auto].
  - apply always_extends. intros d. apply token_proper.
  - intros d. apply block_lossless; auto.
  - intros d. apply block_proper.
  - intros d. apply always_lossless; [apply tree_rejection_proper|apply tree_rejection_lossless]; auto.
  - apply always_extends. intros d. apply tree_rejection_proper; auto.
  - intros d. apply tree_traversal_lossless; auto.
  - intros d. apply tree_traversal_proper; auto.
Qed.

End Verifiers.
