(** The verifiers of theory/verifiers, translated from their Python (Code.v), are lossless.

    For every vocabulary, draft, target and proposal, zeros included.  Besides: every coin is a probability, every row
    that is drawn from is a law, Python raises nowhere, and no loop goes on for more rounds than the draft has nodes. *)

Require Import Reals Lra Lia List Arith FunctionalExtensionality.
Require Import Programs Rules Python Numbers Code Means Lossless Traversal RecursiveRejection Chains Paths.
Require Import BlockOptimal Texts GreedyBlock GreedyText Hsd TopDown Nodes.
Require Import Lift Priority PriorityNodes CodeFacts CodeChains CodeTrees CodeNodes CodePriority.
Import ListNotations RealPrograms.
Open Scope R_scope.

Section CodeLossless.
Variable V : nat.
Variables p q at_leaf : context -> row.
Hypothesis p_rows : forall c, is_row V (p c).
Hypothesis q_rows : forall c, is_row V (q c).
Notation mean := (mean V).
Notation run_code := (run_code p q at_leaf).

(** A stop at or below [c] and a row to draw from, never an error. *)
Definition stops (c : context) (found : option stop) : Prop :=
  match found with Some s => stops_below V c s | None => False end.

Definition right (c : context) (m : program (option stop)) : Prop := lossless_if V p c m /\ proper V m (stops c).

(** What happens with probability zero makes no difference. *)
Lemma proper_inside : forall A B (m : program A) (f : A -> program B) post,
  proper V (bind m f) post -> proper V m (fun a => proper V (f a) post).
Proof.
  intros A B m f post. induction m as [a|r rest IH|a rest IH]; simpl; auto.
  - intros [R H]. split; auto.
  - intros [B' [H1 H2]]. auto.
Qed.

Lemma or_else_mean : forall A (m : program A) (f other : A -> program (option stop)) good g,
  proper V (bind m f) (fun found => match found with Some s => good s | None => False end) ->
  mean (bind m (fun a => or_else (f a) (other a))) g = mean (bind m f) g.
Proof.
  intros A m f other good g H. rewrite !mean_bind. apply (mean_ext_proper V _ _ _ _ _ (proper_inside _ _ _ _ _ H)).
  intros a P. unfold or_else. rewrite mean_bind. apply (mean_ext_proper V _ _ _ _ _ P). intros [s|] F; [reflexivity|contradiction].
Qed.

Lemma or_else_proper : forall A (m : program A) (f other : A -> program (option stop)) good,
  proper V (bind m f) (fun found => match found with Some s => good s | None => False end) ->
  proper V (bind m (fun a => or_else (f a) (other a))) (fun found => match found with Some s => good s | None => False end).
Proof.
  intros A m f other good H. apply (proper_bind V _ _ _ _ _ _ (proper_inside _ _ _ _ _ H)). intros a P.
  apply (proper_bind V _ _ _ _ _ _ P). intros [s|] F; [exact F|contradiction].
Qed.

Lemma or_else_right : forall A (m : program A) (f other : A -> program (option stop)) c,
  right c (bind m f) -> right c (bind m (fun a => or_else (f a) (other a))).
Proof.
  intros A m f other c [[L R] P]. split; [split|].
  - intros G HG. rewrite <- (L G HG). apply (or_else_mean _ _ _ _ (stops_below V c)). exact P.
  - rewrite <- R. apply (or_else_mean _ _ _ _ (stops_below V c)). exact P.
  - apply (or_else_proper _ _ _ _ (stops_below V c)). exact P.
Qed.

Lemma always_right : forall c m, lossless V p c m -> proper V m (stops_below V c) -> right c (always_stops m).
Proof.
  intros c m L P. split; [apply always_lossless; auto|]. apply (proper_bind V _ _ _ _ _ _ P). simpl. auto.
Qed.

(** ** Chains *)

Lemma code_chain : forall verify depth c,
  run_code verify false (chain q depth c) c =
  bind (draw_chain q depth c) (fun path =>
    shown (verify (size (as_children path)) (chained q at_leaf path c) p)).
Proof. intros. unfold RealPrograms.run_code, chain. rewrite bind_bind. reflexivity. Qed.

Theorem token_code_lossless : forall depth c, right c (run_code (token.verify V) false (chain q depth c) c).
Proof.
  intros depth c. rewrite code_chain.
  replace (bind _ _) with (always_stops (token_iteration V p q depth c)).
  - apply always_right; [apply token_lossless|apply token_proper]; auto.
  - unfold always_stops, token_iteration. rewrite bind_bind. f_equal. extensionality path. symmetry. apply token_code.
Qed.

Theorem block_code_lossless : forall depth c, right c (run_code (block.verify V) false (chain q depth c) c).
Proof.
  intros depth c. rewrite code_chain.
  rewrite (f_equal (bind (draw_chain q depth c)) (functional_extensionality _ _ (fun path => block_code V p q at_leaf _ path c))).
  apply or_else_right. split; [apply block_lossless|apply block_proper]; auto.
Qed.

Theorem hsd_code_lossless : forall depth c, right c (run_code (hsd.verify V) false (chain q depth c) c).
Proof.
  intros depth c. rewrite code_chain.
  rewrite (f_equal (bind (draw_chain q depth c)) (functional_extensionality _ _ (fun path => hsd_code V p q at_leaf _ path c))).
  apply or_else_right. split; [apply hsd_lossless|apply hsd_proper]; auto.
Qed.

(** ** Trees and merged paths *)

Lemma code_tree : forall verify replacement (hand : children -> program (option stop)) draft c,
  (forall d, shown (verify (size d) (drafted q at_leaf replacement d c) p) = hand d) ->
  run_code verify replacement draft c = bind draft hand.
Proof. intros verify replacement hand draft c E. unfold RealPrograms.run_code. f_equal. extensionality d. apply E. Qed.

Section Drafts.
Variable draft : program children.
Variable c : context.

(** Siblings drawn in order, each with mass. *)
Definition in_order_from (replacement : bool) : Prop :=
  sampled V q (in_order V replacement) c (q c) draft /\
  proper V draft (fun siblings => possible V q replacement siblings c (q c)).

Theorem specinfer_code_lossless : forall replacement, in_order_from true ->
  right c (run_code (specinfer.verify V) replacement draft c).
Proof.
  intros replacement [S P]. rewrite (code_tree _ _ _ _ _ (fun d => specinfer_code V p q at_leaf replacement _ d c (le_n _))).
  replace (bind _ _) with (always_stops (recursive_rejection_iteration V p q true draft c)).
  - apply always_right; [apply recursive_rejection_lossless|apply recursive_rejection_proper]; auto.
  - unfold always_stops, recursive_rejection_iteration. rewrite bind_bind. reflexivity.
Qed.

Theorem rrs_code_lossless : forall replacement, in_order_from false ->
  right c (run_code (rrs.verify V) replacement draft c).
Proof.
  intros replacement [S P]. rewrite (code_tree _ _ _ _ _ (fun d => rrs_code V p q at_leaf replacement _ d c (le_n _))).
  replace (bind _ _) with (always_stops (recursive_rejection_iteration V p q false draft c)).
  - apply always_right; [apply recursive_rejection_lossless|apply recursive_rejection_proper]; auto.
  - unfold always_stops, recursive_rejection_iteration. rewrite bind_bind. reflexivity.
Qed.

Theorem traversal_code_lossless : forall replacement, in_order_from replacement ->
  right c (run_code (traversal.verify V) replacement draft c).
Proof.
  intros replacement [S P]. rewrite (code_tree _ _ _ _ _ (fun d => traversal_code V p q at_leaf replacement _ d c (le_n _))).
  split; [apply traversal_lossless|apply traversal_proper]; auto.
Qed.

End Drafts.

(** Rules that decide node by node which token comes out. *)

Lemma always_bind : forall A (m : program A) (f : A -> program stop),
  bind m (fun a => always_stops (f a)) = always_stops (bind m f).
Proof. intros. unfold always_stops. rewrite bind_bind. auto. Qed.

Theorem nss_code_lossless : forall replacement draft c, proper V draft (fun _ => True) ->
  right c (run_code (nss.verify V) replacement draft c).
Proof.
  intros replacement draft c D. rewrite (code_tree _ _ _ _ _ (fun d => nss_code V p q at_leaf replacement _ d c (le_n _))).
  rewrite always_bind. apply always_right; [apply nss_lossless; auto|].
  apply (proper_bind V _ _ _ _ _ _ D). intros. apply nss_proper; auto.
Qed.

Theorem one_hot_code_lossless : forall replacement draft c, proper V draft (TopDown.known V) ->
  right c (run_code (one_hot.verify V) replacement draft c).
Proof.
  intros replacement draft c D. rewrite (code_tree _ _ _ _ _ (fun d => one_hot_code V p q at_leaf replacement _ d c (le_n _))).
  rewrite always_bind. apply always_right; [apply one_hot_lossless; auto|].
  apply (proper_bind V _ _ _ _ _ _ D). intros d K. apply one_hot_proper; auto.
Qed.

(** Only the first children have to be drawn from the proposal. *)
Theorem naive_tree_code_lossless : forall replacement next draft c, sampled V q next c (q c) draft ->
  proper V draft (fun siblings => possible V q replacement siblings c (q c)) ->
  right c (run_code (naive_tree.verify V) replacement draft c).
Proof.
  intros replacement next draft c S P.
  rewrite (code_tree _ _ _ _ _ (fun d => naive_tree_code V p q at_leaf replacement _ d c (le_n _))).
  rewrite always_bind. apply always_right; [apply (naive_tree_lossless V p q p_rows next); auto|].
  apply (proper_bind V _ _ _ _ _ _ P). intros d K. apply (naive_tree_proper V p q p_rows q_rows replacement); auto.
Qed.

(** The greedy draft: the likeliest tokens beside one sample. *)
Lemma hu_proper : forall siblings c, TopDown.known V siblings -> proper V (hu_greedy V p q siblings c) (stops_below V c).
Proof.
  assert (N : forall siblings c, TopDown.known V siblings ->
    (forall y, In y (vocabulary V) -> proper V (descend (rule_node p (hu_rule V p q)) siblings c y) (stops_below V c)) ->
    proper V (hu_greedy V p q siblings c) (stops_below V c)).
  { intros [|x below rest] c K H; [apply stops_here; auto|]. destruct K as [I _]. destruct (p_rows c) as [Np Sp].
    change (proper V (Accept (share (p c x) (off V (q c) (tokens_of rest) x)) (fun accepted => bind
      (if accepted then Return x else Choose (normalise V (excess (p c) (off V (q c) (tokens_of rest)))) Return)
      (descend (rule_node p (hu_rule V p q)) (Child x below rest) c))) (stops_below V c)).
    set (d := off V (q c) (tokens_of rest)). split; [apply share_bounds; auto|]. split; intros A; [apply (H x I)|].
    split; [|intros y J _; apply (H y J)]. apply share_below_one in A.
    assert (M : forall y, 0 <= masked q c (tokens_of rest) y) by (intros; apply (masked_nonneg V q q_rows)).
    assert (D : is_row V d).
    { apply (off_row V q q_rows). destruct (Rlt_dec 0 (RealPrograms.total V (off V (q c) (tokens_of rest)))) as [|L]; auto. exfalso.
      assert (Z : d = masked q c (tokens_of rest)).
      { apply (normalise_empty V (masked q c (tokens_of rest))). intros T. apply L. pose proof (normalise_row V _ M T) as [_ E].
        change (off V (q c) (tokens_of rest)) with (normalise V (masked q c (tokens_of rest))). rewrite E. lra. }
      assert (T : RealPrograms.total V (masked q c (tokens_of rest)) = 0).
      { pose proof (total_nonneg V _ M). fold d in L. rewrite Z in L. lra. }
      rewrite Z, (total_zero V _ M T x I) in A. pose proof (Np x). lra. }
    apply normalise_row; [intros; apply excess_nonneg|].
    pose proof (excess_difference V (p c) d) as E. rewrite Sp, (proj2 D) in E.
    assert (F : forall y, 0 <= excess d (p c) y) by (intros; apply excess_nonneg).
    destruct (Rle_lt_or_eq_dec _ _ (total_nonneg V _ F)) as [|Z]; [lra|].
    pose proof (total_zero V _ F (eq_sym Z) x I) as X. rewrite excess_min, Rmin_right in X by lra. lra. }
  assert (H : forall siblings c y, TopDown.known V siblings -> In y (vocabulary V) ->
    proper V (descend (rule_node p (hu_rule V p q)) siblings c y) (stops_below V c)).
  { induction siblings as [|x below IHb rest IHr]; intros c y K I; simpl.
    - apply stops_here, point_row. auto.
    - destruct K as [J [Kb Kr]]. destruct (Nat.eqb_spec x y) as [->|_]; [|apply IHr; auto].
      apply (proper_weaken V _ _ (stops_below V (c ++ [y]))); [|apply stops_deeper].
      apply (N below (c ++ [y]) Kb). intros z L. apply IHb; auto. }
  intros siblings c K. apply N; auto.
Qed.

Lemma likeliest_known : forall r n x, In x (likeliest V r n) -> In x (vocabulary V).
Proof.
  assert (P : forall f a (l : list token) x, In x (place f a l) -> x = a \/ In x l).
  { intros f a. induction l as [|y l IH]; simpl; intros x I; [destruct I; auto; contradiction|].
    destruct (f y a); simpl in I; destruct I as [I|I]; auto. destruct (IH x I); auto. }
  assert (F : forall f (l : list token) x, In x (fold_right (place f) [] l) -> In x l).
  { intros f. induction l as [|a l IH]; simpl; intros x I; auto. destruct (P _ _ _ _ I); auto. }
  intros r n x I. apply filter_In in I. destruct I as [I _].
  eapply F. rewrite <- (firstn_skipn n). apply in_or_app. left. exact I.
Qed.

Lemma greedy_known : forall s c, proper V (draw_greedy V q (fun c => likeliest V (q c)) s c) (TopDown.known V).
Proof.
  set (top := fun c => likeliest V (q c)).
  assert (T : forall c n, proper V (top_and_sample V q top c n) (fun tokens => forall x, In x tokens -> In x (vocabulary V))).
  { intros c [|n]; simpl; [intros x []|]. destruct (Rlt_dec 0 (RealPrograms.total V (off V (q c) (top c n)))) as [L|L]; simpl.
    - split; [apply (off_row V q q_rows); auto|]. intros x I _ y [<-|J]; auto. apply (likeliest_known _ _ _ J).
    - intros x J. apply (likeliest_known _ _ _ J). }
  assert (G : forall s c tokens, (forall x, In x tokens -> In x (vocabulary V)) ->
    proper V (grow V q top s c tokens) (TopDown.known V)).
  { induction s as [|b IHb r IHr]; intros c [|x tokens] K; simpl; auto.
    apply (proper_bind V _ _ _ _ (TopDown.known V)).
    - apply (proper_bind V _ _ _ _ _ _ (T (c ++ [x]) (count b))). intros drawn D. apply IHb. exact D.
    - intros d Kd. apply (proper_bind V _ _ _ _ (TopDown.known V)).
      + apply IHr. intros y I. apply K. simpl. auto.
      + intros e Ke. simpl. repeat split; auto. apply K. simpl. auto. }
  intros s c. apply (proper_bind V _ _ _ _ _ _ (T c (count s))). intros tokens K. apply G. exact K.
Qed.

Theorem hu_greedy_code_lossless : forall s c,
  right c (run_code (hu_greedy.verify V) false (draw_greedy V q (fun c => likeliest V (q c)) s c) c).
Proof.
  intros s c. rewrite (code_tree _ _ _ _ _ (fun d => hu_greedy_code V p q at_leaf false _ d c (le_n _))).
  rewrite always_bind. apply always_right; [apply hu_greedy_lossless; auto|].
  apply (proper_bind V _ _ _ _ _ _ (greedy_known s c)). intros d K. apply hu_proper. exact K.
Qed.

Lemma tree_in_order : forall replacement s c, in_order_from (draw V q replacement s c (q c)) c replacement.
Proof. intros. split; [apply draw_sampled|apply draw_proper]; auto; apply q_law; auto. Qed.

Lemma paths_in_order : forall count depth c, in_order_from (draw_paths q count depth c) c false.
Proof. intros. split; [apply paths_sampled|apply paths_possible]; auto. Qed.

(** ** Any number of calls *)

Theorem code_text_follows : forall rule, (forall c, right c (rule c)) ->
  forall n c u, Texts.known V c -> Texts.known V u -> (length u <= n)%nat ->
  mean (calls (stateless rule) n tt c) (begins (c ++ u)) = joint p u c.
Proof. intros rule R. apply rule_text_follows; auto; intros c; apply R. Qed.

End CodeLossless.

(** ** Drafts of product rows, which depend on the depth alone (ringel2026ddtree): instances *)

Theorem product_rows_code_lossless : forall V p (rows : nat -> row) at_leaf,
  (forall c, is_row V (p c)) -> (forall n, is_row V (rows n)) -> forall c depth count replacement s,
  let q := fun c : context => rows (length c) in
  right V p c (run_code p q at_leaf (token.verify V) false (chain q depth c) c) /\
  right V p c (run_code p q at_leaf (block.verify V) false (chain q depth c) c) /\
  right V p c (run_code p q at_leaf (traversal.verify V) replacement (draw V q replacement s c (q c)) c) /\
  right V p c (run_code p q at_leaf (traversal.verify V) false (draw_paths q count depth c) c).
Proof.
  intros V p rows at_leaf P R c depth count replacement s q. assert (Q : forall c, is_row V (q c)) by (intros; apply R).
  repeat split; try apply token_code_lossless; try apply block_code_lossless;
    try apply traversal_code_lossless; auto; try apply tree_in_order; try apply paths_in_order; auto.
Qed.

(** Greedy block verification, whose next call has another target. *)
Section CodeGreedy.
Variable V : nat.
Variables p q at_leaf : context -> row.
Hypothesis p_rows : forall c, is_row V (p c).
Hypothesis q_rows : forall c, is_row V (q c).
Notation mean := (mean V).

Definition greedy_code_iteration (t : context -> row) (depth : nat) (c : context) : program (option stop) :=
  run_code t q at_leaf (greedy_block.verify V) false (chain q depth c) c.

Fixpoint greedy_code_text (iterations depth : nat) (t : context -> row) (c : context) : program context :=
  match iterations with
  | O => Return c
  | S fewer =>
      bind (greedy_code_iteration t depth c) (fun found =>
        match found with
        | Some (d, r) => Choose r (fun y => greedy_code_text fewer depth (carry V q t depth c d) (d ++ [y]))
        | None => Return c
        end)
  end.

Lemma greedy_code_from : forall t depth c, greedy_code_iteration t depth c =
  bind (draw_chain q depth c) (fun path =>
    or_else (greedy_below V q t path c 1 1) (beyond V (greedy_residual t q) path c (1, 1))).
Proof.
  intros. unfold greedy_code_iteration. rewrite code_chain. f_equal. extensionality path. apply greedy_code.
Qed.

Lemma greedy_code_proper : forall t depth c, (forall c x, 0 <= t c x) -> lawful V t c ->
  proper V (greedy_code_iteration t depth c) (fun found => match found with Some s => good V q t c depth s | None => False end).
Proof.
  intros t depth c N H. rewrite greedy_code_from. apply or_else_proper. apply iteration_proper; auto.
Qed.

Lemma greedy_code_mean : forall depth n t c f, (forall c x, 0 <= t c x) -> lawful V t c ->
  mean (greedy_code_text n depth t c) f = mean (greedy_text V q n depth t c) f.
Proof.
  intros depth. induction n as [|n IH]; intros t c f N H; [reflexivity|]. simpl. rewrite !mean_bind, greedy_code_from.
  rewrite (or_else_mean V _ _ _ _ (good V q t c depth)); [|apply iteration_proper; auto].
  apply (mean_ext_proper V _ _ _ _ _ (iteration_proper V q q_rows t c depth N H)).
  intros [[d r]|] G; [|contradiction]. destruct G as [_ [R G]]. simpl. apply total_ext. intros y.
  destruct (Rle_lt_or_eq_dec _ _ (proj1 R y)) as [P|Z]; [|rewrite <- Z; lra].
  rewrite IH; auto. intros. apply carry_nonneg; auto.
Qed.

Theorem greedy_code_lossless : forall depth iterations u, (length u <= iterations)%nat ->
  (forall x, In x u -> In x (vocabulary V)) ->
  mean (greedy_code_text iterations depth p []) (begins u) = joint p u [].
Proof.
  intros depth iterations u L U. rewrite greedy_code_mean.
  - apply greedy_lossless; auto.
  - intros. apply p_rows.
  - intros e _. apply p_rows.
Qed.

End CodeGreedy.

(** The priority rule, siblings drawn independently from the row of their parent. *)
Section CodePriority.
Variable V : nat.
Variables p q at_leaf : context -> row.
Hypothesis p_rows : forall c, is_row V (p c).
Hypothesis q_rows : forall c, is_row V (q c).
Notation mean := (mean V).
Notation siblings := (fun c k => draw_each (alike q c k)).
Definition priority_draft (s : shape) (c : context) : program children :=
  draw_at siblings s c (draw_below siblings s c).

Lemma alike_rows : forall c k, Forall (is_row V) (alike q c k).
Proof. intros c k. unfold alike. apply Forall_forall. intros r I. apply repeat_spec in I. subst. apply q_rows. Qed.

Lemma drawn_fits : forall s c, proper V (priority_draft s c) (fits s) /\
  forall tokens, length tokens = count s -> proper V (draw_below siblings s c tokens) (fits s).
Proof.
  unfold priority_draft. induction s as [|b IHb r IHr]; intros c.
  - split; [exact I|]. intros [|x tokens] E; [exact I|discriminate].
  - assert (H : forall tokens, length tokens = count (Shape b r) ->
      proper V (draw_below siblings (Shape b r) c tokens) (fits (Shape b r))).
    { intros [|x tokens] E; [discriminate|]. simpl in E. injection E as E.
      apply (proper_bind V _ _ _ _ _ _ (proj1 (IHb (c ++ [x])))). intros d F.
      apply (proper_bind V _ _ _ _ _ _ (proj2 (IHr c) tokens E)). intros e G. simpl. auto. }
    split; auto. apply (proper_bind V _ _ _ _ _ _ (draw_each_proper V _ (alike_rows c _))).
    intros tokens [E _]. apply H. rewrite E. unfold alike. apply repeat_length.
Qed.

Theorem priority_code_lossless : forall replacement s c,
  lossless_if V p c (run_code p q at_leaf (priority.verify V) replacement (priority_draft s c) c).
Proof.
  intros replacement s c.
  assert (M : forall f, mean (run_code p q at_leaf (priority.verify V) replacement (priority_draft s c) c) f =
    mean (bind (priority_draft s c) (fun d => always_stops (priority V p (alike q) s d c))) f).
  { intros f. unfold run_code. rewrite !mean_bind. apply (mean_ext_proper V _ _ _ _ _ (proj1 (drawn_fits s c))).
    intros d F. rewrite <- (priority_code V p q at_leaf replacement (size d) s d c F (le_n _)). reflexivity. }
  assert (K : forall c k, (length (alike q c k) <= k)%nat) by (intros; unfold alike; rewrite repeat_length; auto).
  split; [intros G HG|]; rewrite M, mean_bind.
  - rewrite <- (priority_lossless V p p_rows (alike q) alike_rows K s c G HG), mean_bind. apply mean_ext. intros d.
    unfold always_stops. rewrite mean_bind. reflexivity.
  - rewrite (mean_ext V _ _ _ (fun _ => 0)); [apply (mean_const V _ _ _ _ (proj1 (drawn_fits s c)))|]. intros d.
    unfold always_stops. rewrite mean_bind, (mean_ext V _ _ _ (fun _ => 0 * 0)) by (intros; simpl; ring).
    rewrite mean_mul. ring.
Qed.

End CodePriority.
