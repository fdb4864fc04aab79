(** The lift of any valid single-step rule to trees, from leaf to root, is lossless (docs/findings.md).

    A rule gives every drawn child a mass of its own and leaves a rest of the row that it was given.  It is valid
    if what a token gets on average and the rest together are the row.  Siblings may be drawn in any way. *)

Require Import Reals Lra List Arith.
Require Import Programs Numbers Means Lossless.
Import ListNotations RealPrograms.
Open Scope R_scope.

Section Lift.
Variable V : nat.
Variable p : context -> row.
Hypothesis p_rows : forall c, is_row V (p c).
Notation total := (total V).
Notation mean := (mean V).
Notation normalise := (normalise V).

(** How the children of a context are drawn, at most so many of them. *)
Variable siblings : context -> nat -> program (list token).
Hypothesis siblings_proper : forall c k, proper V (siblings c k)
  (fun tokens => (length tokens <= k)%nat /\ forall x, In x tokens -> In x (vocabulary V)).

(** The rule: of a row, the mass of each drawn child, and the row that is left. *)
Variable masses : context -> nat -> row -> list token -> list R.
Variable rest_of : context -> nat -> row -> row.

Definition sum (ws : list R) : R := fold_right Rplus 0 ws.

(** The mass that the children with token [x] get. *)
Fixpoint given (x : token) (tokens : list token) (ws : list R) : R :=
  match tokens, ws with
  | y :: tokens, w :: ws => (if (x =? y)%nat then w else 0) + given x tokens ws
  | _, _ => 0
  end.

Hypothesis rule_masses : forall c k t tokens, (forall y, 0 <= t y) ->
  length (masses c k t tokens) = length tokens /\
  (forall w, In w (masses c k t tokens) -> 0 <= w) /\ sum (masses c k t tokens) <= 1.
Hypothesis rule_rest : forall c k t x, (forall y, 0 <= t y) -> 0 <= rest_of c k t x.
Hypothesis rule_valid : forall c k t x, (forall y, 0 <= t y) -> total t <= 1 -> In x (vocabulary V) ->
  mean (siblings c k) (fun tokens => given x tokens (masses c k t tokens)) + rest_of c k t x = t x.

Notation lift_at := (lift_at V p masses rest_of).
Notation lift := (lift V p masses rest_of).

(** ** Drafts *)

Definition draw_at (s : shape) (c : context) (below : list token -> program children) : program children :=
  match s with NoShape => Return NoChild | Shape _ _ => bind (siblings c (count s)) below end.

(** The subtrees of the drawn [tokens], which take the first shapes in order. *)
Fixpoint draw_below (s : shape) (c : context) (tokens : list token) : program children :=
  match s, tokens with
  | Shape below rest, x :: tokens =>
      bind (draw_at below (c ++ [x]) (draw_below below (c ++ [x]))) (fun b =>
      bind (draw_below rest c tokens) (fun r => Return (Child x b r)))
  | _, _ => Return NoChild
  end.

(** Draw the subtree of [c], then verify it. *)
Definition node (s : shape) (c : context) (a : R) : program (option stop) :=
  bind (draw_at s c (draw_below s c)) (fun d => lift_at s c a d (lift s c d)).

Definition below (s : shape) (c : context) (tokens : list token) (ws : list R) (left : R) : program (option stop) :=
  bind (draw_below s c tokens) (fun d => lift s c d ws left).

(** ** A draft has mass 1 *)

Lemma draw_at_proper : forall s c below, (forall tokens, proper V (below tokens) (fun _ => True)) ->
  proper V (draw_at s c below) (fun _ => True).
Proof.
  intros [|b r] c below H; simpl; auto. apply (proper_bind V _ _ _ _ _ _ (siblings_proper c _)). auto.
Qed.

Lemma draw_below_proper : forall s c tokens, proper V (draw_below s c tokens) (fun _ => True).
Proof.
  induction s as [|b IHb r IHr]; simpl; intros c [|x tokens]; simpl; auto.
  apply (proper_bind V _ _ _ _ (fun _ => True)); [apply draw_at_proper; auto|]. intros d _.
  apply (proper_bind V _ _ _ _ (fun _ => True)); simpl; auto.
Qed.

Lemma mean_tokens_of : forall s c tokens f, (length tokens <= count s)%nat ->
  mean (draw_below s c tokens) (fun d => f (tokens_of d) d) = mean (draw_below s c tokens) (fun d => f tokens d).
Proof.
  induction s as [|b IHb r IHr]; simpl; intros c [|x tokens] f L; simpl; auto; [inversion L|].
  rewrite !mean_bind. apply mean_ext. intros d. rewrite !mean_bind. simpl.
  apply (IHr c tokens (fun later e => f (x :: later) (Child x d e))). apply le_S_n. auto.
Qed.

(** ** One child more *)

Lemma first_child : forall b r c x tokens w ws left f,
  mean (below (Shape b r) c (x :: tokens) (w :: ws) left) f =
  mean (node b (c ++ [x]) (share w left)) (fun found =>
    match found with Some s => f (Some s) | None => mean (below r c tokens ws (left - w)) f end).
Proof.
  intros. unfold below, node. simpl. rewrite !mean_bind. apply mean_ext. intros d.
  rewrite mean_bind. simpl.
  rewrite (mean_ext V _ _ _ (fun later =>
    mean (lift_at b (c ++ [x]) (share w left) d (lift b (c ++ [x]) d)) (fun found =>
      match found with Some s => f (Some s) | None => mean (lift r c later ws (left - w)) f end))).
  2: { intros later. rewrite mean_bind. apply mean_ext. intros [s|]; reflexivity. }
  rewrite mean_swap. apply mean_ext. intros [s|].
  - apply (mean_const V _ _ _ _ (draw_below_proper r c tokens)).
  - reflexivity.
Qed.

(** What the children with these masses are worth. *)
Fixpoint worth (G : context -> R) (c : context) (tokens : list token) (ws : list R) : R :=
  match tokens, ws with x :: tokens, w :: ws => w * G (c ++ [x]) + worth G c tokens ws | _, _ => 0 end.

Lemma worth_given : forall G c tokens ws, (forall x, In x tokens -> In x (vocabulary V)) ->
  worth G c tokens ws = total (fun x => given x tokens ws * G (c ++ [x])).
Proof.
  intros G c. induction tokens as [|y tokens IH]; intros [|w ws] H; simpl.
  1-3: rewrite (total_ext V _ (fun x => 0 * 0)) by (intros; lra); rewrite total_mul; lra.
  rewrite IH by (intros; apply H; simpl; auto).
  rewrite <- (Rmult_comm (G (c ++ [y])) w), <- (total_single V (fun x => G (c ++ [x])) y w)
    by (apply H; simpl; auto).
  rewrite <- total_add. apply total_ext. intros x. rewrite (Nat.eqb_sym x y). destruct (y =? x)%nat; lra.
Qed.

Lemma sum_given : forall tokens ws, length ws = length tokens -> (forall x, In x tokens -> In x (vocabulary V)) ->
  sum ws = total (fun x => given x tokens ws).
Proof.
  intros tokens ws L H. rewrite (total_ext V _ (fun x => given x tokens ws * 1)) by (intros; lra).
  rewrite <- (worth_given (fun _ => 1) [] tokens ws H). revert ws L.
  induction tokens as [|y tokens IH]; intros [|w ws] L; simpl in *; try discriminate; auto.
  rewrite <- (IH (fun x I => H x (or_intror I)) ws) by (injection L; auto). lra.
Qed.

Lemma sum_nonneg : forall ws, (forall w, In w ws -> 0 <= w) -> 0 <= sum ws.
Proof.
  induction ws as [|w ws IH]; simpl; intros H; [lra|].
  pose proof (H w (or_introl eq_refl)). assert (0 <= sum ws) by (apply IH; auto). lra.
Qed.

(** ** The theorem *)

Definition node_stops (s : shape) : Prop := forall G, harmonic V p G -> forall c a, 0 <= a <= 1 ->
  mean (node s c a) (emitted_if V G) = a * G c /\ mean (node s c a) rejected = 1 - a.

Definition children_stop (s : shape) : Prop := forall G, harmonic V p G -> forall c tokens ws left,
  length ws = length tokens -> (length tokens <= count s)%nat -> (forall w, In w ws -> 0 <= w) -> sum ws <= left ->
  left * mean (below s c tokens ws left) (emitted_if V G) = worth G c tokens ws /\
  left * mean (below s c tokens ws left) rejected = left - sum ws.

Lemma children_from_nodes : forall b r, node_stops b -> children_stop r -> children_stop (Shape b r).
Proof.
  intros b r Hb Hr G HG c [|x tokens] [|w ws] left L K N S; simpl in L; try discriminate.
  - unfold below. simpl. split; lra.
  - rewrite !first_child, split_emitted, split_rejected. simpl in S, K |- *.
    assert (W : 0 <= w) by (apply N; simpl; auto).
    assert (P : 0 <= sum ws) by (apply sum_nonneg; intros; apply N; simpl; auto).
    destruct (Hb G HG (c ++ [x]) (share w left) (share_bounds w left W)) as [F1 F2].
    destruct (Hr G HG c tokens ws (left - w)) as [F3 F4];
      [injection L; auto|apply le_S_n; auto|intros; apply N; simpl; auto|lra|].
    rewrite F1, F2. pose proof (share_of_whole w left) as M.
    split.
    + replace (left * (share w left * G (c ++ [x]) + mean (below r c tokens ws (left - w)) (emitted_if V G) * (1 - share w left)))
        with ((left * share w left) * G (c ++ [x]) + (left - left * share w left) * mean (below r c tokens ws (left - w)) (emitted_if V G)) by ring.
      rewrite M by lra. rewrite F3. lra.
    + replace (left * (mean (below r c tokens ws (left - w)) rejected * (1 - share w left)))
        with ((left - left * share w left) * mean (below r c tokens ws (left - w)) rejected) by ring.
      rewrite M by lra. rewrite F4. lra.
Qed.

Lemma node_from_children : forall b r, children_stop (Shape b r) -> node_stops (Shape b r).
Proof.
  intros b r H G HG c a A. set (s := Shape b r) in *. set (k := count s). set (t := scale a (p c)).
  destruct (entered_scale V a (p c)) as [T M]; [split; [auto|right; apply p_rows]|]. fold t in T, M.
  set (rest := rest_of c k t). assert (N : forall x, 0 <= rest x) by (intros; apply rule_rest; auto).
  set (R := total rest). assert (R0 : 0 <= R) by (apply total_nonneg; auto).
  set (own := Accept (share R (R + (1 - a))) (fun accepted => Return (if accepted then Some (c, normalise rest) else None))).
  (* verification sees the siblings, then what is below them *)
  assert (E : forall f, mean (node s c a) f = mean (siblings c k) (fun tokens =>
    mean (below s c tokens (masses c k t tokens) 1) (fun found =>
      match found with Some stop => f (Some stop) | None => mean own f end))).
  { intros f. change (node s c a) with
      (bind (bind (siblings c k) (draw_below s c)) (fun d => bind (lift s c d (masses c k t (tokens_of d)) 1)
        (fun found => match found with Some stop => Return (Some stop) | None => own end))).
    unfold below. rewrite !mean_bind.
    apply (mean_ext_proper V _ _ _ _ _ (siblings_proper c k)). intros tokens [L _]. rewrite mean_bind.
    rewrite <- (mean_tokens_of s c tokens (fun drawn d => mean (lift s c d (masses c k t drawn) 1) (fun found =>
      match found with Some stop => f (Some stop) | None => mean own f end))) by auto.
    apply mean_ext. intros d. rewrite mean_bind. apply mean_ext. intros [stop|]; reflexivity. }
  (* the children, by the induction hypothesis *)
  assert (C : forall tokens, (length tokens <= k)%nat ->
    mean (below s c tokens (masses c k t tokens) 1) (emitted_if V G) = worth G c tokens (masses c k t tokens) /\
    mean (below s c tokens (masses c k t tokens) 1) rejected = 1 - sum (masses c k t tokens)).
  { intros tokens L. destruct (rule_masses c k t tokens T) as [W1 [W2 W3]].
    destruct (H G HG c tokens (masses c k t tokens) 1 W1 L W2 W3). lra. }
  (* their means over the siblings, by the rule *)
  assert (K1 : mean (siblings c k) (fun tokens => worth G c tokens (masses c k t tokens)) =
               total (fun x => (t x - rest x) * G (c ++ [x]))).
  { rewrite (mean_ext_proper V _ _ _ _ (fun tokens => total (fun x => G (c ++ [x]) * given x tokens (masses c k t tokens)))
      (siblings_proper c k)).
    - rewrite mean_total. apply total_ext_in. intros x I. rewrite mean_mul.
      pose proof (rule_valid c k t x T) as Z. fold rest in Z. rewrite <- Z by (auto; lra). ring.
    - intros tokens [_ I]. rewrite worth_given by auto. apply total_ext. intros; ring. }
  assert (K2 : mean (siblings c k) (fun tokens => 1 - sum (masses c k t tokens)) = R + (1 - a)).
  { replace (R + (1 - a)) with (1 - (a - R)) by ring. rewrite mean_sub, (mean_one V _ _ _ (siblings_proper c k)). f_equal.
    rewrite (mean_ext_proper V _ _ _ _ (fun tokens => total (fun x => given x tokens (masses c k t tokens)))
      (siblings_proper c k)).
    - rewrite mean_total. unfold R. rewrite <- M, <- total_sub. apply total_ext_in. intros x I.
      pose proof (rule_valid c k t x T) as Z. fold rest in Z. rewrite <- Z by (auto; lra). ring.
    - intros tokens [_ I]. apply sum_given; auto. apply (rule_masses c k t tokens T). }
  assert (S : (R + (1 - a)) * share R (R + (1 - a)) = R) by (apply share_of_whole; lra).
  assert (W : R * total (fun y => normalise rest y * G (c ++ [y])) = total (fun y => rest y * G (c ++ [y]))).
  { rewrite <- total_mul. apply total_ext_in. intros y I. destruct (Rle_lt_or_eq_dec _ _ R0) as [P|Z].
    - rewrite <- Rmult_assoc. unfold R. rewrite normalise_total; auto.
    - rewrite (total_zero V rest N (eq_sym Z) y I), <- Z. ring. }
  split.
  - rewrite E, (mean_ext_proper V _ _ _ _ (fun tokens => worth G c tokens (masses c k t tokens) +
      mean own (emitted_if V G) * (1 - sum (masses c k t tokens))) (siblings_proper c k)).
    + rewrite mean_add, mean_mul, K1, K2. unfold own. simpl.
      replace (total (fun x => (t x - rest x) * G (c ++ [x])) +
               (share R (R + (1 - a)) * total (fun y => normalise rest y * G (c ++ [y])) +
                (1 - share R (R + (1 - a))) * 0) * (R + (1 - a)))
        with (total (fun x => (t x - rest x) * G (c ++ [x])) +
              ((R + (1 - a)) * share R (R + (1 - a))) * total (fun y => normalise rest y * G (c ++ [y]))) by ring.
      rewrite S, W, <- total_add, (HG c), <- total_mul. apply total_ext. intros x. unfold t, scale. ring.
    + intros tokens [L _]. rewrite split_emitted. destruct (C tokens L) as [C1 C2]. rewrite C1, C2. ring.
  - rewrite E, (mean_ext_proper V _ _ _ _ (fun tokens =>
      mean own rejected * (1 - sum (masses c k t tokens))) (siblings_proper c k)).
    + rewrite mean_mul, K2. unfold own. simpl.
      replace ((share R (R + (1 - a)) * 0 + (1 - share R (R + (1 - a))) * 1) * (R + (1 - a)))
        with ((R + (1 - a)) - (R + (1 - a)) * share R (R + (1 - a))) by ring.
      rewrite S. lra.
    + intros tokens [L _]. rewrite split_rejected. destruct (C tokens L) as [_ C2]. rewrite C2. ring.
Qed.

Lemma leaf_stops : node_stops NoShape.
Proof.
  intros G HG c a A. unfold node. simpl. rewrite (HG c). split; lra.
Qed.

Theorem node_stops_everywhere : forall s, node_stops s.
Proof.
  assert (H : forall s, node_stops s /\ children_stop s).
  { induction s as [|b [Hb _] r [_ Hr]].
    - split; [apply leaf_stops|]. intros G HG c [|x tokens] [|w ws] left L K N S; simpl in *; try discriminate.
      + unfold below. simpl. split; lra.
      + inversion K.
    - pose proof (children_from_nodes b r Hb Hr). split; auto. apply node_from_children. auto. }
  intros s. apply H.
Qed.

Theorem lift_lossless : forall s c, lossless_if V p c (node s c 1).
Proof.
  intros s c. split.
  - intros G HG. destruct (node_stops_everywhere s G HG c 1) as [L _]; [lra|]. rewrite L. lra.
  - destruct (node_stops_everywhere s _ (harmonic_one V p p_rows) c 1) as [_ R]; [lra|]. rewrite R. lra.
Qed.

End Lift.
