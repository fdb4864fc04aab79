(** The optimum of a node (docs/near-optimal.md) is lossless, node by node and lifted, for every law of orders.

    Siblings are drawn independently, each from a row of its own.  Any law of orders gives a valid single-step rule, and
    one that passes the plan's test is the best: no valid rule keeps more.  That some law passes is no part of this. *)

Require Import Reals Lra Lia List Arith.
Require Import Programs Rules Numbers Means Lossless Lift Priority.
Import ListNotations RealPrograms.
Open Scope R_scope.

(** ** Any valid single-step rule, node by node *)

Section Nodes.
Variable V : nat.
Variable p : context -> row.
Hypothesis p_rows : forall c, is_row V (p c).
Notation total := (total V).
Notation mean := (mean V).
Notation normalise := (normalise V).
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
Notation go_down := (go_down V p masses rest_of).
Notation enter_child := (enter_child V p masses rest_of).

(** What the verdict is worth: v(j) if child j is kept, z if none is. *)
Definition verdict (v : nat -> R) (z : R) (kept : option nat) : R := match kept with Some j => v j | None => z end.

Lemma one_kept_value : forall g z drawn ws u j v, length ws = length drawn -> (forall w, In w ws -> 0 <= w) -> sum ws <= u ->
  (forall i, (i < length drawn)%nat -> v (j + i)%nat = g [nth i drawn 0%nat]) ->
  u * mean (one_kept ws u j) (verdict v z) = Lift.worth g [] drawn ws + (u - sum ws) * z.
Proof.
  intros g z. induction drawn as [|x drawn IH]; intros [|w ws] u j v L N S E; simpl in *; try discriminate; [ring|].
  change (fold_right Rplus 0 ws) with (sum ws) in *.
  assert (W : 0 <= w) by (apply N; auto).
  assert (P : 0 <= sum ws) by (apply sum_nonneg; intros; apply N; auto).
  pose proof (E 0%nat ltac:(lia)) as E0. rewrite Nat.add_0_r in E0. simpl in E0. rewrite E0.
  pose proof (share_of_whole w u ltac:(lra)) as M.
  assert (I : (u - w) * mean (one_kept ws (u - w) (Datatypes.S j)) (verdict v z) = Lift.worth g [] drawn ws + (u - w - sum ws) * z).
  { apply IH; auto; [lra|]. intros i I. replace (Datatypes.S j + i)%nat with (j + Datatypes.S i)%nat by lia.
    apply (E (Datatypes.S i)). lia. }
  set (m := mean (one_kept ws (u - w) (Datatypes.S j)) (verdict v z)) in *.
  replace (u * (share w u * g [x] + (1 - share w u) * m)) with ((u * share w u) * g [x] + (u - u * share w u) * m) by ring.
  rewrite M, I. change (@eq R (w * g [x] + (Lift.worth g [] drawn ws + (u - w - sum ws) * z)) (w * g [x] + Lift.worth g [] drawn ws + (u - (w + sum ws)) * z)). ring.
Qed.

Definition node_follows (s : shape) : Prop := forall G, harmonic V p G -> forall c,
  mean (bind (draw_at s c (draw_below s c)) (fun d => go_down s d c)) (emitted V G) = G c.

Definition child_follows (s : shape) : Prop := forall G, harmonic V p G -> forall c drawn j,
  (length drawn <= count s)%nat -> (j < length drawn)%nat ->
  mean (bind (draw_below s c drawn) (fun d => enter_child s d c j)) (emitted V G) = G (c ++ [nth j drawn 0%nat]).

Lemma below_proper : forall s c drawn, proper V (draw_below s c drawn) (fun _ => True).
Proof. apply (draw_below_proper V siblings). apply siblings_proper. Qed.

Lemma at_proper : forall s c, proper V (draw_at s c (draw_below s c)) (fun _ => True).
Proof. intros s c. apply (draw_at_proper V siblings siblings_proper). intros. apply below_proper. Qed.

Lemma child_from_node : forall b r, node_follows b -> child_follows r -> child_follows (Shape b r).
Proof.
  intros b r Hb Hr G HG c [|x drawn] [|j] L J; simpl in L, J; try lia.
  - simpl. rewrite !mean_bind. rewrite <- (Hb G HG (c ++ [x])), mean_bind. apply mean_ext. intros d.
    rewrite mean_bind. simpl. apply (mean_const V _ _ _ _ (below_proper r c drawn)).
  - simpl. rewrite !mean_bind. rewrite <- (Hr G HG c drawn j) by lia.
    rewrite (mean_ext V _ _ _ (fun _ => mean (bind (draw_below r c drawn) (fun d => enter_child r d c j)) (emitted V G))).
    + apply (mean_const V _ _ _ _ (at_proper b (c ++ [x]))).
    + intros d. rewrite !mean_bind. auto.
Qed.

(** No child is kept with the chance of what is left of the row. *)
Lemma unkept_mean : forall c k, mean (siblings c k) (fun drawn => 1 - sum (masses c k (p c) drawn)) = total (rest_of c k (p c)).
Proof.
  intros c k. destruct (p_rows c) as [N S]. pose proof (siblings_proper c k) as D.
  rewrite (mean_ext_proper V _ _ _ _ (fun drawn => 1 - total (fun y => given y drawn (masses c k (p c) drawn))) D).
  - rewrite mean_sub, (mean_one V _ _ _ D), mean_total.
    rewrite (total_ext_in V _ (fun y => p c y - rest_of c k (p c) y)).
    + rewrite total_sub, S. ring.
    + intros y I. pose proof (rule_valid c k (p c) y N ltac:(rewrite S; lra) I). lra.
  - intros drawn [_ K]. destruct (rule_masses c k (p c) drawn N) as [L _]. rewrite (sum_given V drawn _ L K). auto.
Qed.

Lemma node_from_child : forall b r, child_follows (Shape b r) -> node_follows (Shape b r).
Proof.
  intros b r H G HG c. set (s := Shape b r) in *. set (k := count s).
  set (ws := masses c k (p c)). set (rest := rest_of c k (p c)).
  destruct (p_rows c) as [N S].
  assert (M : forall drawn, length (ws drawn) = length drawn /\ (forall w, In w (ws drawn) -> 0 <= w) /\ sum (ws drawn) <= 1)
    by (intros; apply rule_masses; auto).
  assert (Nr : forall y, 0 <= rest y) by (intros; apply rule_rest; auto).
  assert (T : forall y, In y (vocabulary V) -> mean (siblings c k) (fun drawn => given y drawn (ws drawn)) = p c y - rest y).
  { intros y I. pose proof (rule_valid c k (p c) y N ltac:(rewrite S; lra) I) as E. fold rest in E. unfold ws. lra. }
  pose proof (siblings_proper c k) as D.
  set (g := fun d : context => G (c ++ d)).
  assert (W : mean (siblings c k) (fun drawn => Lift.worth g [] drawn (ws drawn)) = total (fun y => (p c y - rest y) * G (c ++ [y]))).
  { rewrite (mean_ext_proper V _ _ _ _ (fun drawn => total (fun y => given y drawn (ws drawn) * g [y])) D).
    - rewrite mean_total. apply total_ext_in. intros y I. rewrite <- (T y I).
      rewrite (mean_ext V _ _ _ (fun drawn => g [y] * given y drawn (ws drawn))) by (intros; ring).
      rewrite mean_mul. unfold g. ring.
    - intros drawn [_ K]. apply (worth_given V g [] drawn (ws drawn) K). }
  pose proof (unkept_mean c k : mean (siblings c k) (fun drawn => 1 - sum (ws drawn)) = total rest) as U.
  set (z := total (fun y => normalise rest y * G (c ++ [y]))).
  assert (Z : total rest * z = total (fun y => rest y * G (c ++ [y]))).
  { unfold z. rewrite <- total_mul. apply total_ext_in. intros y I.
    destruct (Rle_lt_or_eq_dec _ _ (total_nonneg V rest Nr)) as [P|E].
    - rewrite <- Rmult_assoc, normalise_total; auto.
    - rewrite (total_zero V rest Nr (eq_sym E) y I), <- E. ring. }
  change (mean (bind (bind (siblings c k) (draw_below s c)) (fun d =>
    bind (one_kept (ws (tokens_of d)) 1 0) (fun kept =>
      match kept with Some j => enter_child s d c j | None => Return (c, normalise rest) end))) (emitted V G) = G c).
  rewrite !mean_bind.
  rewrite (mean_ext_proper V _ _ _ _ (fun drawn => Lift.worth g [] drawn (ws drawn) + (1 - sum (ws drawn)) * z) D).
  - rewrite mean_add, W.
    rewrite (mean_ext V _ _ (fun drawn => (1 - sum (ws drawn)) * z) (fun drawn => z * (1 - sum (ws drawn)))) by (intros; ring).
    rewrite mean_mul, U, Rmult_comm, Z, <- total_add, (HG c). apply total_ext. intros; ring.
  - intros drawn [L K]. destruct (M drawn) as [M1 [M2 M3]].
    rewrite (mean_tokens_of V siblings s c drawn (fun tokens d => mean (bind (one_kept (ws tokens) 1 0) (fun kept =>
      match kept with Some j => enter_child s d c j | None => Return (c, normalise rest) end)) (emitted V G))) by auto.
    rewrite (mean_ext V _ _ _ (fun d => mean (one_kept (ws drawn) 1 0) (fun kept =>
      verdict (fun j => mean (enter_child s d c j) (emitted V G)) z kept))).
    2: { intros d. rewrite mean_bind. apply mean_ext. intros [j|]; reflexivity. }
    rewrite mean_swap.
    rewrite <- (one_kept_value g z drawn (ws drawn) 1 0
      (fun j => if (j <? length drawn)%nat then G (c ++ [nth j drawn 0%nat]) else
        mean (draw_below s c drawn) (fun d => mean (enter_child s d c j) (emitted V G)))); auto.
    + rewrite Rmult_1_l. apply mean_ext. intros [j|]; simpl; [|apply (mean_const V _ _ _ _ (below_proper s c drawn))].
      destruct (Nat.ltb_spec j (length drawn)); auto. rewrite <- (H G HG c drawn j), mean_bind by auto. auto.
    + intros i I. cbn beta. replace (0 + i <? @length token drawn)%nat with true; [reflexivity|].
      symmetry. apply Nat.ltb_lt. exact I.
Qed.

Theorem go_down_lossless : forall s c,
  lossless V p c (bind (draw_at s c (draw_below s c)) (fun d => go_down s d c)).
Proof.
  assert (H : forall s, node_follows s /\ child_follows s).
  { induction s as [|b [Hb _] r [_ Hr]].
    - split; [intros G HG c; simpl; rewrite (HG c); auto|]. intros G HG c drawn j L J. simpl in L. lia.
    - pose proof (child_from_node b r Hb Hr). split; auto. apply node_from_child. auto. }
  intros s c G HG. apply H. auto.
Qed.

End Nodes.

(** ** How often a token leads *)

Section Optimal.
Variable V : nat.
Notation total := (total V).
Notation mean := (mean V).

(** One where s is one at every drawn token. *)
Fixpoint off (s : row) (drawn : list token) : R := match drawn with [] => 1 | y :: drawn => s y * off s drawn end.

(** What each row has there. *)
Definition mass (s : row) (laws : list row) : list R := map (fun R => total (fun y => R y * s y)) laws.

Lemma mean_off : forall s laws, mean (draw_each laws) (off s) = product (mass s laws).
Proof.
  intros s. induction laws as [|R laws IH]; [reflexivity|].
  change (mean (draw_each (R :: laws)) (off s) = total (fun y => R y * s y) * product (mass s laws)).
  rewrite <- IH, <- total_mul_right. simpl. apply total_ext. intros y. rewrite mean_bind. simpl. rewrite mean_mul. ring.
Qed.

Definition without_token (x : token) (s : row) : row := fun y => if (y =? x)%nat then 0 else s y.

Lemma reduced_mass : forall x s laws, Forall (is_row V) laws -> In x (vocabulary V) -> (forall y, 0 <= s y) -> s x = 1 ->
  reduced x laws (mass s laws) = mass (without_token x s) laws.
Proof.
  intros x s laws F I N E. induction F as [|R laws [P _] F IH]; simpl; auto. rewrite IH. f_equal.
  assert (M : total (fun y => R y * s y) - R x = total (fun y => R y * without_token x s y)).
  { replace (R x) with (R x * s x * 1) by (rewrite E; ring).
    rewrite <- (total_single V (fun y => R y * s y) x 1 I), <- total_sub. apply total_ext. intros y.
    unfold without_token. rewrite (Nat.eqb_sym x y). destruct (y =? x)%nat; ring. }
  unfold positive. simpl. rewrite M.
  assert (0 <= total (fun y => R y * without_token x s y)).
  { apply total_nonneg. intros y. apply Rmult_le_pos; auto. unfold without_token. destruct (y =? x)%nat; auto; lra. }
  destruct (Rlt_dec 0 (total (fun y => R y * without_token x s y))); lra.
Qed.

Definition led (order drawn : list token) (z : token) : R :=
  match leading order drawn with Some y => if (y =? z)%nat then 1 else 0 | None => 0 end.

Lemma off_without : forall x s drawn,
  off (without_token x s) drawn = if existsb (Nat.eqb x) drawn then 0 else off s drawn.
Proof.
  intros x s. induction drawn as [|y drawn IH]; simpl; auto. rewrite IH. unfold without_token at 1.
  rewrite (Nat.eqb_sym x y). destruct (y =? x)%nat; simpl; [ring|]. destruct (existsb (Nat.eqb x) drawn); ring.
Qed.

Lemma leads_mean : forall order s laws z, NoDup order -> (forall x, In x order -> In x (vocabulary V)) ->
  Forall (is_row V) laws -> (forall y, 0 <= s y) -> (forall x, In x order -> s x = 1) ->
  leads order laws (mass s laws) z = mean (draw_each laws) (fun drawn => off s drawn * led order drawn z).
Proof.
  induction order as [|x order IH]; intros s laws z D I F N E; simpl.
  - rewrite (mean_ext V _ _ _ (fun drawn => 0 * off s drawn)) by (intros; unfold led; simpl; ring).
    rewrite mean_mul. ring.
  - inversion D as [|? ? X D']; subst. rewrite reduced_mass; auto; [|apply I; simpl; auto|apply E; simpl; auto].
    rewrite (Nat.eqb_sym z x). destruct (Nat.eqb_spec x z) as [->|Z].
    + rewrite <- !mean_off. change (@eq R (mean (draw_each laws) (off s) - mean (draw_each laws) (off (without_token z s)))
        (mean (draw_each laws) (fun drawn => off s drawn * led (z :: order) drawn z))).
      rewrite <- mean_sub. apply mean_ext. intros drawn. rewrite off_without. unfold led. simpl.
      destruct (existsb (Nat.eqb z) drawn).
      * rewrite Nat.eqb_refl. ring.
      * assert (L : forall o, ~ In z o -> match leading o drawn with Some y => if (y =? z)%nat then 1 else 0 | None => 0 end = 0).
        { induction o as [|y o IHo]; simpl; intros O; auto. destruct (existsb (Nat.eqb y) drawn).
          - destruct (Nat.eqb_spec y z); auto. exfalso. apply O. auto.
          - apply IHo. intros Q. apply O. auto. }
        rewrite (L order X). ring.
    + rewrite IH; auto.
      * apply mean_ext. intros drawn. rewrite off_without. unfold led. simpl.
        destruct (existsb (Nat.eqb x) drawn); [|ring]. destruct (Nat.eqb_spec x z); [contradiction|ring].
      * intros y J. apply I. simpl. auto.
      * intros y. unfold without_token. destruct (y =? x)%nat; auto; lra.
      * intros y J. unfold without_token. destruct (Nat.eqb_spec y x); [subst; contradiction|]. apply E. simpl. auto.
Qed.

(** ** What keeps most *)

(** No rule keeps more than the chance that a token of X is drafted, and what t has off X. *)
Definition off_set (X : token -> bool) : row := fun y => if X y then 0 else 1.
Definition bound (X : token -> bool) (Rs : list row) (t : row) : R :=
  1 - product (mass (off_set X) Rs) + total (fun y => off_set X y * t y).

Lemma kept_in_set : forall X drawn ws, length ws = length drawn -> (forall w, In w ws -> 0 <= w) ->
  0 <= Lift.worth (fun d => 1 - off (off_set X) d) [] drawn ws <= sum ws /\
  (off (off_set X) drawn = 0 \/ off (off_set X) drawn = 1 /\ Lift.worth (fun d => 1 - off (off_set X) d) [] drawn ws = 0).
Proof.
  intros X. induction drawn as [|y drawn IH]; intros [|w ws] L N; simpl in *; try discriminate; [split; [lra|auto]|].
  destruct (IH ws) as [A B]; [congruence|auto|]. assert (0 <= w) by auto.
  change (fold_right Rplus 0 ws) with (sum ws). assert (Q : off_set X y = if X y then 0 else 1) by reflexivity.
  rewrite Q. clear Q. destruct (X y).
  - split; [lra|]. left. ring.
  - split; [lra|]. destruct B as [->|[-> B]]; [left; ring|right]. rewrite B. split; ring.
Qed.

Lemma total_le_known : forall f g, (forall x, In x (vocabulary V) -> f x <= g x) -> total f <= total g.
Proof.
  intros f g H. rewrite (total_ext_in V f (fun x => Rmin (f x) (g x))).
  - apply total_le. intros x. apply Rmin_r.
  - intros x I. symmetry. apply Rmin_left. auto.
Qed.

Theorem no_rule_keeps_more : forall X Rs t ms rest, Forall (is_row V) Rs ->
  (forall drawn, length (ms drawn) = length drawn /\ (forall w, In w (ms drawn) -> 0 <= w) /\ sum (ms drawn) <= 1) ->
  (forall x, 0 <= rest x) ->
  (forall x, In x (vocabulary V) -> mean (draw_each Rs) (fun drawn => given x drawn (ms drawn)) + rest x = t x) ->
  mean (draw_each Rs) (fun drawn => sum (ms drawn)) <= bound X Rs t.
Proof.
  intros X Rs t ms rest F S P E. pose proof (draw_each_proper V Rs F) as D. unfold bound.
  apply Rle_trans with (mean (draw_each Rs) (fun drawn => (1 - off (off_set X) drawn) +
    total (fun y => off_set X y * given y drawn (ms drawn)))).
  - apply (mean_le V _ _ _ _ _ D). intros drawn [_ K]. destruct (S drawn) as [L [N O]].
    rewrite (sum_given V drawn (ms drawn) L K).
    rewrite (total_ext V _ (fun y => given y drawn (ms drawn) * (1 - off_set X y) + off_set X y * given y drawn (ms drawn)))
      by (intros; ring).
    rewrite total_add. destruct (kept_in_set X drawn (ms drawn) L N) as [[A B] C].
    rewrite (worth_given V (fun d => 1 - off (off_set X) d) [] drawn (ms drawn) K) in A, B, C. simpl in A, B, C.
    rewrite (total_ext V (fun x => given x drawn (ms drawn) * (1 - off_set X x * 1))
      (fun y => given y drawn (ms drawn) * (1 - off_set X y))) in A, B, C by (intros; ring).
    destruct C as [->|[-> ->]]; lra.
  - rewrite mean_add, mean_sub, mean_off, (mean_one V _ _ _ D), mean_total. apply Rplus_le_compat_l. apply total_le_known.
    intros y I. rewrite mean_mul. apply Rmult_le_compat_l; [unfold off_set; destruct (X y); lra|].
    pose proof (E y I). pose proof (P y). lra.
Qed.

(** ** The rule *)

Variable p : context -> row.
Hypothesis p_rows : forall c, is_row V (p c).
Variable laws : context -> nat -> list row.
Hypothesis laws_rows : forall c k, Forall (is_row V) (laws c k).
Hypothesis laws_count : forall c k, (length (laws c k) <= k)%nat.
Variable orders : context -> nat -> row -> list (R * list token).

(** Chances of sum 1 at most, of orders in which no token is twice. *)
Definition sound_orders (os : list (R * list token)) : Prop :=
  (forall chance order, In (chance, order) os -> 0 <= chance /\ NoDup order /\ forall x, In x order -> In x (vocabulary V)) /\
  fold_right (fun o sum => fst o + sum) 0 os <= 1.
Hypothesis orders_sound : forall c k t, sound_orders (orders c k t).

(** The copies of a drawn token share all of what it gets. *)
Variable parts : context -> nat -> list token -> list R.
Hypothesis parts_share : forall c k drawn, length (parts c k drawn) = length drawn /\
  (forall a, In a (parts c k drawn) -> 0 <= a) /\ forall x, In x drawn -> given x drawn (parts c k drawn) = 1.

Notation siblings := (fun c k => draw_each (laws c k)).
Notation masses := (optimal_masses laws orders parts).
Notation rest_of := (optimal_rest laws orders).

Lemma each_part_given : forall weight x drawn ps, given x drawn (each_part weight drawn ps) = weight x * given x drawn ps.
Proof.
  intros weight x. induction drawn as [|y drawn IH]; intros [|a ps]; simpl; try ring. rewrite IH.
  destruct (Nat.eqb_spec x y) as [->|]; ring.
Qed.

Lemma each_part_weights : forall weight drawn ps, length ps = length drawn -> (forall y, 0 <= weight y) ->
  (forall a, In a ps -> 0 <= a) ->
  length (each_part weight drawn ps) = length drawn /\ forall w, In w (each_part weight drawn ps) -> 0 <= w.
Proof.
  intros weight. induction drawn as [|y drawn IH]; intros [|a ps] L N P; simpl in *; try discriminate; [split; auto; intros ? []|].
  destruct (IH ps) as [A B]; auto. split; [congruence|]. intros w [<-|J]; auto. apply Rmult_le_pos; auto.
Qed.

Lemma keeps_led : forall os rate drawn z,
  keeps os rate drawn z = rate z * fold_right (fun o sum => fst o * led (snd o) drawn z + sum) 0 os.
Proof.
  intros os rate drawn z. induction os as [|[chance order] os IH]; [unfold keeps; simpl; ring|].
  change (keeps ((chance, order) :: os) rate drawn z) with (match leading order drawn with
    | Some y => if (y =? z)%nat then chance * rate z + keeps os rate drawn z else keeps os rate drawn z
    | None => keeps os rate drawn z end).
  simpl. rewrite IH. unfold led.
  destruct (leading order drawn) as [y|]; [destruct (Nat.eqb_spec y z) as [->|]|]; simpl; ring.
Qed.

Lemma led_nonneg : forall order drawn z, 0 <= led order drawn z.
Proof. intros. unfold led. destruct (leading order drawn) as [y|]; [destruct (y =? z)%nat|]; lra. Qed.

Lemma leading_drawn : forall order drawn y, leading order drawn = Some y -> In y drawn.
Proof.
  induction order as [|x order IH]; simpl; intros drawn y E; [discriminate|].
  destruct (existsb (Nat.eqb x) drawn) eqn:B; auto. injection E as <-. apply existsb_exists in B.
  destruct B as [w [J K]]. apply Nat.eqb_eq in K. subst. auto.
Qed.

(** Together the leading tokens of a draw have the chances of the orders at most. *)
Lemma kept_at_most_one : forall os rate drawn ps, length ps = length drawn -> (forall x, 0 <= rate x <= 1) ->
  (forall x, In x drawn -> given x drawn ps = 1) -> (forall chance order, In (chance, order) os -> 0 <= chance) ->
  sum (each_part (keeps os rate drawn) drawn ps) <= fold_right (fun o total => fst o + total) 0 os.
Proof.
  intros os rate drawn ps L B G C.
  assert (A : forall weight a b d qs, (forall y, weight y = a y + b y) ->
    sum (each_part weight d qs) = sum (each_part a d qs) + sum (each_part b d qs)).
  { intros weight a b. induction d as [|y d IHd]; intros [|e qs] E; simpl; try ring.
    change (weight y * e + sum (each_part weight d qs) = a y * e + sum (each_part a d qs) + (b y * e + sum (each_part b d qs))).
    rewrite (IHd qs E), E. ring. }
  assert (Z : forall weight d qs, (forall y, weight y = 0) -> sum (each_part weight d qs) = 0).
  { intros weight. induction d as [|y d IHd]; intros [|e qs] E; simpl; auto.
    change (weight y * e + sum (each_part weight d qs) = 0). rewrite (IHd qs E), E. ring. }
  assert (O : forall y r d qs, sum (each_part (fun z => if (y =? z)%nat then r else 0) d qs) = r * given y d qs).
  { intros y r. induction d as [|w d IHd]; intros [|e qs]; simpl; try ring.
    change ((if (y =? w)%nat then r else 0) * e + sum (each_part (fun z => if (y =? z)%nat then r else 0) d qs) =
      r * ((if (y =? w)%nat then e else 0) + given y d qs)). rewrite IHd. destruct (y =? w)%nat; ring. }
  induction os as [|[chance order] os IH]; simpl.
  - rewrite Z by reflexivity. lra.
  - rewrite (A _ (fun z => match leading order drawn with Some y => if (y =? z)%nat then chance * rate y else 0 | None => 0 end)
      (keeps os rate drawn)).
    + assert (I : sum (each_part (keeps os rate drawn) drawn ps) <= fold_right (fun o total => fst o + total) 0 os)
        by (apply IH; intros; apply (C chance0 order0); simpl; auto).
      assert (K : 0 <= chance) by (apply (C chance order); simpl; auto).
      destruct (leading order drawn) as [y|] eqn:E.
      * rewrite O, (G y (leading_drawn _ _ _ E)).
        assert (chance * rate y <= chance) by (rewrite <- (Rmult_1_r chance) at 2; apply Rmult_le_compat_l; [auto|apply B]). lra.
      * rewrite Z by reflexivity. lra.
    + intros z. change (keeps ((chance, order) :: os) rate drawn z) with (match leading order drawn with
        | Some y => if (y =? z)%nat then chance * rate z + keeps os rate drawn z else keeps os rate drawn z
        | None => keeps os rate drawn z end).
      destruct (leading order drawn) as [y|]; [destruct (Nat.eqb_spec y z) as [->|]|]; simpl; ring.
Qed.

Lemma start_mass : forall Rs, Forall (is_row V) Rs -> mass (fun _ => 1) Rs = map (fun _ => 1) Rs.
Proof.
  induction 1 as [|R Rs [_ S] F IH]; [reflexivity|].
  change (total (fun y => R y * 1) :: mass (fun _ => 1) Rs = 1 :: map (fun _ => 1) Rs). rewrite IH. f_equal.
  transitivity (total R); [apply total_ext; intros; ring|exact S].
Qed.

Lemma off_one : forall drawn, off (fun _ => 1) drawn = 1.
Proof. induction drawn as [|y drawn IH]; simpl; auto. rewrite IH. ring. Qed.

Lemma lead_mean : forall os Rs z, sound_orders os -> Forall (is_row V) Rs ->
  lead os Rs z = mean (draw_each Rs) (fun drawn => fold_right (fun o sum => fst o * led (snd o) drawn z + sum) 0 os).
Proof.
  intros os Rs z [H _] F. induction os as [|[chance order] os IH]; simpl.
  - rewrite (mean_ext V _ _ _ (fun drawn => 0 * off (fun _ => 1) drawn)) by (intros; ring). rewrite mean_mul. unfold lead. simpl. ring.
  - destruct (H chance order (or_introl eq_refl)) as [_ [D I]].
    assert (E : lead os Rs z = mean (draw_each Rs) (fun drawn => fold_right (fun o sum => fst o * led (snd o) drawn z + sum) 0 os))
      by (apply IH; intros; apply (H chance0 order0); simpl; auto).
    rewrite mean_add, <- E, mean_mul.
    change (chance * leads order Rs (map (fun _ => 1) Rs) z + lead os Rs z =
      chance * mean (draw_each Rs) (fun drawn => led order drawn z) + lead os Rs z). rewrite <- (start_mass Rs F).
    rewrite (leads_mean order (fun _ => 1) Rs z D I F) by (intros; lra).
    rewrite (mean_ext V _ _ (fun drawn => off (fun _ => 1) drawn * led order drawn z) (fun drawn => led order drawn z)); auto.
    intros drawn. rewrite off_one. ring.
Qed.

Lemma led_in_all : forall os drawn z, (forall chance order, In (chance, order) os -> 0 <= chance) ->
  0 <= fold_right (fun o sum => fst o * led (snd o) drawn z + sum) 0 os.
Proof.
  intros os drawn z H. induction os as [|[chance order] os IH]; simpl; [lra|].
  pose proof (H chance order (or_introl eq_refl)) as C. pose proof (led_nonneg order drawn z).
  assert (0 <= fold_right (fun o sum => fst o * led (snd o) drawn z + sum) 0 os)
    by (apply IH; intros ch o J; apply (H ch o); simpl; auto).
  assert (0 <= chance * led order drawn z) by (apply Rmult_le_pos; auto). lra.
Qed.

Lemma lead_nonneg : forall os Rs z, sound_orders os -> Forall (is_row V) Rs -> 0 <= lead os Rs z.
Proof.
  intros os Rs z S F. rewrite lead_mean; auto. destruct S as [H _].
  pose proof (mean_const V _ (draw_each Rs) _ 0 (draw_each_proper V Rs F)) as K.
  apply Rle_trans with (mean (draw_each Rs) (fun _ => 0)); [lra|].
  eapply (mean_le V); [exact (draw_each_proper V Rs F)|]. intros drawn _. apply led_in_all. intros ch o J. apply (H ch o J).
Qed.

Lemma optimal_masses_sound : forall c k t drawn, (forall y, 0 <= t y) ->
  length (masses c k t drawn) = length drawn /\ (forall w, In w (masses c k t drawn) -> 0 <= w) /\ sum (masses c k t drawn) <= 1.
Proof.
  intros c k t drawn T. destruct (parts_share c k drawn) as [L [N G]]. destruct (orders_sound c k t) as [H S].
  set (rate := fun x => share (t x) (lead (orders c k t) (laws c k) x)).
  assert (B : forall x, 0 <= rate x <= 1) by (intros; apply share_bounds; auto).
  assert (W : forall y, 0 <= keeps (orders c k t) rate drawn y).
  { intros y. rewrite keeps_led. apply Rmult_le_pos; [apply B|].
    apply led_in_all. intros ch o J. apply (H ch o J). }
  destruct (each_part_weights (keeps (orders c k t) rate drawn) drawn (parts c k drawn) L W N) as [A D].
  split; [exact A|]. split; [exact D|]. apply Rle_trans with (2 := S).
  apply kept_at_most_one; auto. intros chance order J. apply (H chance order J).
Qed.

Theorem optimal_valid : forall c k t x, (forall y, 0 <= t y) -> total t <= 1 -> In x (vocabulary V) ->
  mean (draw_each (laws c k)) (fun drawn => given x drawn (masses c k t drawn)) + rest_of c k t x = t x.
Proof.
  intros c k t x T _ I. set (os := orders c k t). set (Rs := laws c k).
  set (rate := fun x => share (t x) (lead os Rs x)).
  rewrite (mean_ext V _ _ _ (fun drawn => rate x * fold_right (fun o sum => fst o * led (snd o) drawn x + sum) 0 os)).
  - rewrite mean_mul, <- (lead_mean os Rs x (orders_sound c k t) (laws_rows c k)). unfold optimal_rest. rewrite excess_min.
    fold os Rs. unfold rate. rewrite Rmult_comm, share_mass; [ring|auto|].
    apply lead_nonneg; [apply orders_sound|apply laws_rows].
  - intros drawn. unfold optimal_masses. fold os Rs. rewrite each_part_given. fold rate. rewrite keeps_led.
    destruct (in_dec Nat.eq_dec x drawn) as [J|J].
    + destruct (parts_share c k drawn) as [_ [_ G]]. rewrite (G x J). ring.
    + assert (Z : fold_right (fun o sum => fst o * led (snd o) drawn x + sum) 0 os = 0).
      { clear - J. induction os as [|[chance order] os IH]; simpl; auto. rewrite IH. unfold led.
        destruct (leading order drawn) as [y|] eqn:E; [|ring]. destruct (Nat.eqb_spec y x) as [->|]; [|ring].
        exfalso. apply J. apply (leading_drawn _ _ _ E). }
      rewrite Z. ring.
Qed.

(** The test at which the plan is done: if its kept mass is the bound of some X, no valid rule keeps more. *)
Theorem optimal_keeps_most : forall X c k t ms rest, (forall y, 0 <= t y) -> total t <= 1 ->
  total (fun x => minimum (t x) (lead (orders c k t) (laws c k) x)) = bound X (laws c k) t ->
  (forall drawn, length (ms drawn) = length drawn /\ (forall w, In w (ms drawn) -> 0 <= w) /\ sum (ms drawn) <= 1) ->
  (forall x, 0 <= rest x) ->
  (forall x, In x (vocabulary V) -> mean (draw_each (laws c k)) (fun drawn => given x drawn (ms drawn)) + rest x = t x) ->
  mean (draw_each (laws c k)) (fun drawn => sum (ms drawn)) <=
    mean (draw_each (laws c k)) (fun drawn => sum (masses c k t drawn)).
Proof.
  intros X c k t ms rest T U B S P E. pose proof (draw_each_proper V (laws c k) (laws_rows c k)) as D.
  apply Rle_trans with (bound X (laws c k) t); [apply (no_rule_keeps_more X _ _ ms rest); auto|]. rewrite <- B.
  rewrite (mean_ext_proper V _ _ _ _ (fun drawn => total (fun y => given y drawn (masses c k t drawn))) D).
  - rewrite mean_total. right. apply total_ext_in. intros x I. pose proof (optimal_valid c k t x T U I) as W.
    unfold optimal_rest in W. rewrite excess_min in W. rewrite minimum_Rmin. lra.
  - intros drawn [_ K]. destruct (optimal_masses_sound c k t drawn T) as [L _]. apply (sum_given V drawn _ L K).
Qed.

Lemma siblings_proper : forall c k, proper V (draw_each (laws c k))
  (fun tokens => (length tokens <= k)%nat /\ forall x, In x tokens -> In x (vocabulary V)).
Proof.
  intros c k. apply (proper_weaken V _ _ _ _ (draw_each_proper V _ (laws_rows c k))). intros drawn [L K]. split; auto.
  rewrite L. auto.
Qed.

Lemma optimal_rest_nonneg : forall c k t x, (forall y, 0 <= t y) -> 0 <= rest_of c k t x.
Proof. intros. apply excess_nonneg. Qed.

Theorem optimal_lossless : forall s c,
  lossless V p c (bind (draw_at siblings s c (draw_below siblings s c)) (fun drawn => optimal V p laws orders parts s drawn c)).
Proof.
  exact (go_down_lossless V p p_rows siblings siblings_proper masses rest_of optimal_masses_sound optimal_rest_nonneg optimal_valid).
Qed.

Theorem lifted_optimal_lossless : forall s c,
  lossless_if V p c (bind (draw_at siblings s c (draw_below siblings s c)) (fun drawn =>
    lifted_optimal V p laws orders parts s drawn c)).
Proof.
  exact (lift_lossless V p p_rows siblings siblings_proper masses rest_of optimal_masses_sound optimal_rest_nonneg optimal_valid).
Qed.

End Optimal.
