(** The optimum of a node is well defined on every tree: its coins are probabilities, and it stops at or below the node
    where it starts, with a row to draw from. *)

Require Import Reals Lra Lia List Arith.
Require Import Programs Rules Numbers Means Lossless Lift Priority Optimal.
Import ListNotations RealPrograms.
Open Scope R_scope.

Section Stops.
Variable V : nat.
Notation total := (total V).
Notation mean := (mean V).

Lemma mean_nonneg : forall A (m : program A) (post : A -> Prop) f, proper V m post -> (forall a, post a -> 0 <= f a) -> 0 <= mean m f.
Proof. intros A m post f H N. rewrite <- (mean_const V _ m post 0 H). apply (mean_le V _ m post); auto. Qed.

(** What is never below zero, and zero on average, is zero on every branch. *)
Lemma proper_zero : forall A (m : program A) (post : A -> Prop) f, proper V m post -> (forall a, post a -> 0 <= f a) ->
  mean m f = 0 -> proper V m (fun a => post a /\ f a = 0).
Proof.
  induction m as [a|r rest IH|a rest IH]; simpl; intros post f H N Z; auto.
  - destruct H as [[R S] H]. split; [split; auto|].
    assert (E : forall l, (forall x, In x l -> 0 <= r x * mean (rest x) f) ->
      fold_right (fun x sum => r x * mean (rest x) f + sum) 0 l = 0 -> forall x, In x l -> r x * mean (rest x) f = 0).
    { clear. induction l as [|y l IH]; intros P Z x I; [destruct I|]. simpl in Z. pose proof (P y (or_introl eq_refl)).
      assert (G : forall m, (forall x, In x m -> 0 <= r x * mean (rest x) f) -> 0 <= fold_right (fun x sum => r x * mean (rest x) f + sum) 0 m).
      { induction m as [|z m IHm]; intros Q; simpl; [lra|]. specialize (IHm (fun x J => Q x (or_intror J))). pose proof (Q z (or_introl eq_refl)). lra. }
      specialize (G l (fun x J => P x (or_intror J))). destruct I as [->|I]; [lra|]. apply IH; auto; [intros; apply P; right; auto|lra]. }
    intros x I P. apply IH; auto.
    assert (Q : r x * mean (rest x) f = 0).
    { apply (E (vocabulary V)); auto. intros y J. destruct (Rle_lt_or_eq_dec _ _ (R y)) as [W|W]; [|rewrite <- W; lra].
      apply Rmult_le_pos; [lra|]. apply (mean_nonneg _ _ post); auto. }
    apply Rmult_integral in Q as [Q|Q]; lra.
  - destruct H as [B [H1 H2]].
    assert (P : 0 <= a * mean (rest true) f).
    { destruct (Rle_lt_or_eq_dec 0 a) as [W|W]; [lra| |rewrite <- W; lra]. apply Rmult_le_pos; [lra|]. apply (mean_nonneg _ _ post); auto. }
    assert (Q : 0 <= (1 - a) * mean (rest false) f).
    { destruct (Rle_lt_or_eq_dec a 1) as [W|W]; [lra| |rewrite W; lra]. apply Rmult_le_pos; [lra|]. apply (mean_nonneg _ _ post); auto. }
    split; auto. split; intros W; apply IH; auto.
    + apply (Rmult_eq_reg_l a); lra.
    + apply (Rmult_eq_reg_l (1 - a)); lra.
Qed.

Variable p : context -> row.
Hypothesis p_rows : forall c, is_row V (p c).

(** ** Any valid single-step rule, node by node *)

Section Nodes.
Variable siblings : context -> nat -> program (list token).
Hypothesis siblings_proper : forall c k, proper V (siblings c k)
  (fun tokens => (length tokens <= k)%nat /\ forall x, In x tokens -> In x (vocabulary V)).
Variable masses : context -> nat -> row -> list token -> list R.
Variable rest_of : context -> nat -> row -> row.
Hypothesis rule_masses : forall c k t tokens, (forall y, 0 <= t y) ->
  length (masses c k t tokens) = length tokens /\
  (forall w, In w (masses c k t tokens) -> 0 <= w) /\ sum (masses c k t tokens) <= 1.
Hypothesis rule_rest : forall c k t x, (forall y, 0 <= t y) -> 0 <= rest_of c k t x.
Hypothesis rule_valid : forall c k t x, (forall y, 0 <= t y) -> total t <= 1 -> In x (vocabulary V) ->
  mean (siblings c k) (fun tokens => given x tokens (masses c k t tokens)) + rest_of c k t x = t x.
Notation draw_at := (draw_at siblings).
Notation draw_below := (draw_below siblings).
Notation enter_node := (enter_node V p masses rest_of).
Notation enter_child := (enter_child V p masses rest_of).

(** A child is kept for sure where nothing is left of the row. *)
Definition settled (s : shape) (d : children) (c : context) : Prop :=
  match s with
  | NoShape => True
  | Shape _ _ => total (rest_of c (count s) (p c)) = 0 -> sum (masses c (count s) (p c) (tokens_of d)) = 1
  end.

Fixpoint fits (s : shape) (d : children) (c : context) : Prop :=
  match s, d with
  | Shape b r, Child x below rest => settled b below (c ++ [x]) /\ fits b below (c ++ [x]) /\ fits r rest c
  | _, _ => True
  end.

Lemma drawn_settled : forall c k, proper V (siblings c k) (fun tokens => (length tokens <= k)%nat /\
  (total (rest_of c k (p c)) = 0 -> sum (masses c k (p c) tokens) = 1)).
Proof.
  intros c k. destruct (p_rows c) as [N _]. destruct (Req_dec (total (rest_of c k (p c))) 0) as [Z|Z].
  - apply (proper_weaken V _ _ (fun tokens => ((length tokens <= k)%nat /\ forall x, In x tokens -> In x (vocabulary V)) /\
      1 - sum (masses c k (p c) tokens) = 0)).
    + apply proper_zero; auto.
      * intros tokens _. destruct (rule_masses c k (p c) tokens N) as (_ & _ & L). lra.
      * rewrite <- Z. apply (unkept_mean V p p_rows siblings siblings_proper masses rest_of rule_masses rule_valid).
    + intros tokens [[L _] E]. split; auto. intros _. lra.
  - apply (proper_weaken V _ _ _ _ (siblings_proper c k)). intros tokens [L _]. split; auto. intros E. contradiction.
Qed.

Lemma below_fits : forall s c tokens, proper V (draw_below s c tokens)
  (fun d => fits s d c /\ ((length tokens <= count s)%nat -> tokens_of d = tokens)).
Proof.
  induction s as [|b IHb r IHr]; intros c [|x tokens]; simpl; auto; [split; auto; intros; lia|].
  apply (proper_bind V _ _ _ _ (fun d => settled b d (c ++ [x]) /\ fits b d (c ++ [x]))).
  - destruct b as [|b' r']; [simpl; auto|]. apply (proper_bind V _ _ _ _ _ _ (drawn_settled (c ++ [x]) (count (Shape b' r')))).
    intros drawn [L Z]. apply (proper_weaken V _ _ _ _ (IHb (c ++ [x]) drawn)). intros d [F T]. split; auto.
    intros E. rewrite T by auto. auto.
  - intros d [S F]. apply (proper_bind V _ _ _ _ _ _ (IHr c tokens)). intros rest [G T]. simpl. split; auto.
    intros L. rewrite T by lia. auto.
Qed.

Lemma at_fits : forall s c, proper V (draw_at s c (draw_below s c)) (fun d => settled s d c /\ fits s d c).
Proof.
  intros [|b r] c; [simpl; auto|]. apply (proper_bind V _ _ _ _ _ _ (drawn_settled c (count (Shape b r)))).
  intros drawn [L Z]. apply (proper_weaken V _ _ _ _ (below_fits (Shape b r) c drawn)). intros d [F T]. split; auto.
  intros E. rewrite T by auto. auto.
Qed.

Lemma one_kept_proper : forall ws u j, (forall w, In w ws -> 0 <= w) -> 0 < u -> sum ws <= u ->
  proper V (one_kept ws u j) (fun kept => kept = None -> sum ws < u).
Proof.
  induction ws as [|w ws IH]; intros u j N U S; simpl in *; [intros; lra|].
  change (fold_right Rplus 0 ws) with (sum ws) in *.
  assert (W : 0 <= w) by (apply N; auto). assert (P : 0 <= sum ws) by (apply sum_nonneg; intros; apply N; auto).
  split; [apply share_bounds; auto|]. split; [discriminate|]. intros L.
  pose proof (share_of_whole w u ltac:(lra)) as E.
  apply (proper_weaken V _ _ (fun kept => kept = None -> sum ws < u - w)).
  - apply IH; [intros; apply N; auto|nra|lra].
  - intros kept H K. specialize (H K). lra.
Qed.

Lemma stops_here : forall c r, is_row V r -> stops_below V c (c, r).
Proof. intros c r R. split; auto. exists []. rewrite app_nil_r. auto. Qed.

Lemma enter_stops : forall s,
  (forall d c, settled s d c -> fits s d c -> proper V (enter_node s d c (enter_child s d c)) (stops_below V c)) /\
  (forall d c j, fits s d c -> proper V (enter_child s d c j) (stops_below V c)).
Proof.
  induction s as [|b [IHb _] r [_ IHr]].
  - split; intros; [|destruct d, j]; apply stops_here; auto.
  - assert (C : forall d c j, fits (Shape b r) d c -> proper V (enter_child (Shape b r) d c j) (stops_below V c)).
    { intros [|x below rest] c j F; [apply stops_here; auto|]. destruct F as (S & F & G). destruct j as [|j]; [|apply IHr; auto].
      apply (proper_weaken V _ _ _ _ (IHb below (c ++ [x]) S F)). intros s. apply stops_deeper. }
    split; auto. intros d c S F. destruct (p_rows c) as [N _].
    destruct (rule_masses c (count (Shape b r)) (p c) (tokens_of d) N) as (_ & M & L).
    apply (proper_bind V _ _ _ _ _ _ (one_kept_proper _ 1 0 M ltac:(lra) L)). intros [j|] K; [apply C; auto|].
    specialize (K eq_refl). apply stops_here. apply normalise_row; [intros; apply rule_rest; auto|].
    destruct (Rle_lt_or_eq_dec _ _ (total_nonneg V (rest_of c (count (Shape b r)) (p c)) ltac:(intros; apply rule_rest; auto))) as [P|P]; auto.
    specialize (S (eq_sym P)). lra.
Qed.

Theorem go_down_proper : forall s c,
  proper V (bind (draw_at s c (draw_below s c)) (fun d => go_down V p masses rest_of s d c)) (stops_below V c).
Proof.
  intros s c. apply (proper_bind V _ _ _ _ _ _ (at_fits s c)). intros d [S F]. apply enter_stops; auto.
Qed.
End Nodes.

(** ** The optimum of a node *)

Variable laws : context -> nat -> list row.
Hypothesis laws_rows : forall c k, Forall (is_row V) (laws c k).
Hypothesis laws_count : forall c k, (length (laws c k) <= k)%nat.
Variable orders : context -> nat -> row -> list (R * list token).
Hypothesis orders_sound : forall c k t, sound_orders V (orders c k t).
Variable parts : context -> nat -> list token -> list R.
Hypothesis parts_share : forall c k drawn, length (parts c k drawn) = length drawn /\
  (forall a, In a (parts c k drawn) -> 0 <= a) /\ forall x, In x drawn -> given x drawn (parts c k drawn) = 1.
Notation siblings := (fun c k => draw_each (laws c k)).

Theorem optimal_proper : forall s c,
  proper V (bind (draw_at siblings s c (draw_below siblings s c)) (fun drawn => optimal V p laws orders parts s drawn c))
    (stops_below V c).
Proof.
  apply go_down_proper.
  - exact (siblings_proper V laws laws_rows laws_count).
  - intros c k t tokens T. exact (optimal_masses_sound V laws orders orders_sound parts parts_share c k t tokens T).
  - intros. apply (optimal_rest_nonneg laws orders); auto.
  - intros. apply (optimal_valid V laws laws_rows orders orders_sound parts parts_share); auto.
Qed.
End Stops.
