(** The inner loop of the plan ends at the law of orders that is nearest to t among those with the same orders or fewer.

    The orders kept stay affinely independent, so that [balance] has one answer.  A round without a chance below zero is
    the last, any other takes an order out, and none goes away from t. *)

Require Import Reals Lra Lia List Arith Bool Permutation.
Require Import Programs Numbers Means Lossless Priority Optimal OptimalOrders OptimalDownhill OptimalBalance.
Import ListNotations RealPrograms.
Open Scope R_scope.

Section Steps.
Variable V : nat.
Variable Rs : list row.
Variable t : row.
Notation scalar := (scalar V Rs).
Notation short := (short Rs t).
Notation is_order := (is_order V Rs).
Notation is_law := (is_law V Rs).
Notation independent := (independent V Rs).
Notation rows_of S := (map short (map snd S)).

(** ** One round *)

Lemma limits_in : forall have part a, In a (limits have part) <->
  exists h w, In (h, w) (combine have part) /\ w < 0 /\ a = h / (h - w).
Proof.
  intros have part a. unfold limits. rewrite in_flat_map. split.
  - intros [[h w] [I J]]. exists h, w. change (In a (if Real.less w 0 then [h / (h - w)] else [])) in J.
    destruct (Real.less w 0) eqn:E; [|destruct J]. apply less_true in E. destruct J as [<-|[]]. auto.
  - intros (h & w & I & N & ->). exists (h, w). split; auto.
    change (In (h / (h - w)) (if Real.less w 0 then [h / (h - w)] else [])). apply less_true in N. rewrite N. simpl. auto.
Qed.

Lemma ratio_range : forall h w, 0 <= h -> w < 0 -> 0 <= h / (h - w) < 1.
Proof.
  intros h w H W. split; [apply Rmult_le_pos; auto; left; apply Rinv_0_lt_compat; lra|].
  apply Rmult_lt_reg_r with (h - w); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

Section Round.
Variables have part : list R.
Hypothesis nonneg : forall h, In h have -> 0 <= h.
Notation step := (least (limits have part) 1).

Lemma step_range : 0 <= step <= 1.
Proof.
  destruct (limits have part) eqn:E; [simpl; lra|].
  assert (I : In step (limits have part)) by (apply least_in; rewrite E; discriminate). rewrite <- E.
  apply limits_in in I as (h & w & I & W & ->). apply in_combine_l in I. pose proof (ratio_range h w (nonneg h I) W). lra.
Qed.

Lemma moved_nonneg : forall c, In c (moved step have part) -> 0 <= c.
Proof.
  intros c I. unfold moved in I. apply in_map_iff in I as [[h w] [<- I]].
  pose proof step_range as S. pose proof (nonneg h (in_combine_l _ _ _ _ I)) as H. change (0 <= h + step * (w - h)).
  destruct (Rlt_dec w 0) as [W|W].
  - assert (B : step <= h / (h - w)) by (apply least_le, limits_in; exists h, w; auto).
    assert (step * (h - w) <= h); [|lra].
    apply Rle_trans with (h / (h - w) * (h - w)); [apply Rmult_le_compat_r; lra|]. right. field. lra.
  - assert (0 <= step * w) by (apply Rmult_le_pos; lra). assert (0 <= (1 - step) * h) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma one_goes : limits have part <> [] -> In 0 (moved step have part).
Proof.
  intros N. pose proof (least_in _ 1 N) as I. apply limits_in in I as (h & w & I & W & E).
  unfold moved. apply in_map_iff. exists (h, w). split; auto. change (h + step * (w - h) = 0). rewrite E.
  pose proof (nonneg h (in_combine_l _ _ _ _ I)). field. lra.
Qed.
End Round.

Lemma moved_length : forall s have part, length have = length part -> length (moved s have part) = length have.
Proof. intros s have part L. unfold moved. rewrite map_length, combine_length, L. lia. Qed.

Lemma moved_sum : forall s have part, length have = length part ->
  summed (moved s have part) = (1 - s) * summed have + s * summed part.
Proof.
  intros s. induction have as [|h have IH]; intros [|w part] L; try discriminate; [simpl; ring|]. injection L as L.
  change (h + s * (w - h) + summed (moved s have part) = (1 - s) * (h + summed have) + s * (w + summed part)).
  rewrite IH; auto. ring.
Qed.

Lemma moved_comb : forall s x have part rows, length have = length part -> length have = length rows ->
  comb (moved s have part) rows x = (1 - s) * comb have rows x + s * comb part rows x.
Proof.
  intros s x. induction have as [|h have IH]; intros [|w part] [|v rows] L K; try discriminate; [simpl; ring|].
  injection L as L. injection K as K.
  change ((h + s * (w - h)) * v x + comb (moved s have part) rows x =
    (1 - s) * (h * v x + comb have rows x) + s * (w * v x + comb part rows x)). rewrite IH; auto. ring.
Qed.

(** ** Orders that are left out *)

Section Left.
Variable f : R * list token -> bool.

Lemma with_zeros : forall M cs', length cs' = length (filter f M) -> exists cs, length cs = length M /\
  summed cs = summed cs' /\ (forall x, comb cs (rows_of M) x = comb cs' (rows_of (filter f M)) x) /\
  (Forall (fun c => c = 0) cs -> Forall (fun c => c = 0) cs').
Proof.
  induction M as [|m M IH]; intros cs' L; simpl in L.
  - destruct cs'; [|discriminate]. exists []. simpl. auto.
  - destruct (f m) eqn:E.
    + destruct cs' as [|c cs']; [discriminate|]. injection L as L. destruct (IH cs' L) as (cs & A & B & C & D).
      exists (c :: cs). simpl. rewrite E. simpl. repeat split; [lia|lra|intros x; rewrite C; auto|].
      intros F. inversion F; subst. constructor; auto.
    + destruct (IH cs' L) as (cs & A & B & C & D). exists (0 :: cs). simpl. rewrite E.
      repeat split; [lia|lra|intros x; rewrite C; ring|].
      intros F. inversion F; subst. auto.
Qed.

Lemma filter_independent : forall M, independent (rows_of M) -> independent (rows_of (filter f M)).
Proof.
  intros M I cs' L S Z. rewrite !map_length in L. destruct (with_zeros M cs' L) as (cs & A & B & C & D). apply D, I.
  - rewrite !map_length. auto.
  - lra.
  - rewrite (scalar_ext V Rs _ _ _ _ C C). auto.
Qed.
End Left.

Notation above := (fun o : R * list token => Real.less Real.zero (fst o)).

Lemma filter_sum : forall M, (forall c o, In (c, o) M -> 0 <= c) ->
  summed (map fst (filter above M)) = summed (map fst M) /\
  forall x, comb (map fst (filter above M)) (rows_of (filter above M)) x = comb (map fst M) (rows_of M) x.
Proof.
  induction M as [|[c o] M IH]; intros N; [simpl; auto|].
  destruct IH as [A B]; [intros c' o' I; apply (N c' o'); simpl; auto|].
  cbn [filter fst]. destruct (Real.less Real.zero c) eqn:E.
  - simpl. rewrite A. split; auto. intros x. rewrite B. auto.
  - apply less_false in E. pose proof (N c o (or_introl eq_refl)). assert (c = 0) by (change Real.zero with 0 in E; lra).
    subst.
    simpl. rewrite A. split; [ring|]. intros x. rewrite B. ring.
Qed.

Lemma filter_shorter : forall M : list (R * list token), In 0 (map fst M) -> (length (filter above M) < length M)%nat.
Proof.
  induction M as [|[c o] M IH]; intros I; [destruct I|]. cbn [filter fst].
  assert (K : forall l : list (R * list token), (length (filter above l) <= length l)%nat).
  { induction l as [|m l IHl]; simpl; auto. destruct (Real.less Real.zero (fst m)); simpl; lia. }
  destruct I as [E|I].
  - simpl in E. subst. replace (Real.less Real.zero 0) with false; [simpl; specialize (K M); lia|]. symmetry.
    apply less_false. apply Rle_refl.
  - specialize (IH I). destruct (Real.less Real.zero c); simpl; lia.
Qed.

(** ** What is kept *)

Definition point (S : list (R * list token)) : row := comb (map fst S) (rows_of S).
Definition dist (S : list (R * list token)) : R := scalar (point S) (point S).
Definition balanced (S : list (R * list token)) : Prop := exists a, Forall (fun r => scalar r (point S) = a) (rows_of S).
Definition positive_law (S : list (R * list token)) : Prop := forall c o, In (c, o) S -> 0 < c.

(** How far the chances are from their balance. *)
Definition away (S : list (R * list token)) : row := fun x => 1 * point S x + -1 * comb (want V Rs t S) (rows_of S) x.

Lemma law_nonempty : forall S, is_law S -> rows_of S <> [].
Proof. intros [|m S] [_ E]; [simpl in E; lra|discriminate]. Qed.

Lemma law_chance : forall S h, is_law S -> In h (map fst S) -> 0 <= h.
Proof. intros S h [L _] I. apply in_map_iff in I as [[c o] [<- I]]. apply (L c o I). Qed.

Section Kept.
Variable S : list (R * list token).
Hypothesis law : is_law S.
Hypothesis free : independent (rows_of S).
Notation have := (map fst S).
Notation part := (want V Rs t S).
Notation step := (least (limits have part) 1).
Notation now := (combine (moved step have part) (map snd S)).
Notation kept := (kept_orders V Rs t S).

Lemma want_facts : length part = length have /\ summed part = 1 /\
  exists a, Forall (fun r => scalar r (comb part (rows_of S)) = a) (rows_of S).
Proof.
  destruct (balance_balanced V Rs (rows_of S) (law_nonempty S law) free) as [L R]. split; [|exact R].
  change (length part) with (length (balance V Rs (rows_of S))). rewrite L, !map_length. auto.
Qed.

Lemma now_parts : map fst now = moved step have part /\ map snd now = map snd S.
Proof.
  destruct want_facts as [L _]. assert (E : length (moved step have part) = length (map snd S)).
  { rewrite moved_length by auto. rewrite !map_length. auto. }
  revert E. generalize (moved step have part), (map snd S).
  induction l as [|c l IH]; intros [|o os] E; try discriminate; auto.
  injection E as E. destruct (IH os E) as [A B]. simpl. rewrite A, B. auto.
Qed.

Lemma now_nonneg : forall c o, In (c, o) now -> 0 <= c.
Proof.
  intros c o I. apply in_combine_l in I. revert I. apply moved_nonneg. intros h. apply law_chance. auto.
Qed.

Lemma kept_is : kept = filter above now.
Proof. reflexivity. Qed.

Lemma kept_point : forall x, point kept x = (1 - step) * point S x + step * comb part (rows_of S) x.
Proof.
  intros x. destruct want_facts as [L _]. destruct now_parts as [A B]. unfold point. rewrite kept_is.
  rewrite (proj2 (filter_sum now now_nonneg)), A, B. apply moved_comb; auto. rewrite !map_length. auto.
Qed.

Lemma kept_law : is_law kept /\ positive_law kept /\ independent (rows_of kept).
Proof.
  destruct want_facts as (L & W & _). destruct now_parts as [A B]. rewrite kept_is. repeat split.
  - apply filter_In in H as [I _]. apply (now_nonneg _ _ I).
  - apply filter_In in H as [I _]. apply in_combine_r in I. apply in_map_iff in I as [[c' o'] [E I]]. simpl in E. subst.
    apply (proj1 law c' o I).
  - rewrite (proj1 (filter_sum now now_nonneg)), A, moved_sum by auto. rewrite W, (proj2 law). ring.
  - intros c o I. apply filter_In in I as [_ E]. apply less_true in E. exact E.
  - apply filter_independent. rewrite B. auto.
Qed.

(** The balance is as far from t as every one of the kept orders lets it be. *)
Lemma balance_square : forall cs, length cs = length (rows_of S) -> summed cs = 1 ->
  scalar (comb cs (rows_of S)) (comb part (rows_of S)) = scalar (comb part (rows_of S)) (comb part (rows_of S)).
Proof.
  intros cs L W. destruct want_facts as (K & U & a & F). rewrite !(scalar_comb V Rs _ a); auto; [rewrite W, U; auto|].
  rewrite K, !map_length. auto.
Qed.

Lemma distances :
  dist kept = scalar (comb part (rows_of S)) (comb part (rows_of S)) + (1 - step) * (1 - step) * scalar (away S) (away S) /\
  dist S = scalar (comb part (rows_of S)) (comb part (rows_of S)) + scalar (away S) (away S).
Proof.
  set (w := comb part (rows_of S)). assert (Q : scalar (point S) w = scalar w w).
  { apply balance_square; [rewrite !map_length; auto|apply law]. }
  assert (D : scalar (away S) (away S) = dist S - scalar w w).
  { unfold away. fold w. rewrite scalar_linear, (scalar_sym V Rs (point S)), (scalar_sym V Rs w), !scalar_linear,
    (scalar_sym V Rs w (point S)), Q.
    unfold dist. ring. }
  split; [|rewrite D; ring]. unfold dist at 1. rewrite (scalar_ext V Rs _ _ _ _ kept_point kept_point). fold w.
  rewrite scalar_linear, (scalar_sym V Rs (point S)), (scalar_sym V Rs w), !scalar_linear, (scalar_sym V Rs w (point S)),
  Q, D. unfold dist. ring.
Qed.

Lemma never_further : dist kept <= dist S.
Proof.
  destruct distances as [-> ->]. pose proof (step_range have part (fun h => law_chance S h law)) as R.
  pose proof (scalar_nonneg V Rs (away S)). assert ((1 - step) * (1 - step) <= 1) by nra. nra.
Qed.

Lemma fewer : limits have part <> [] -> (length kept < length S)%nat.
Proof.
  intros N. destruct now_parts as [A B]. rewrite kept_is. replace (length S) with (length now).
  - apply filter_shorter. rewrite A. apply one_goes; auto. intros h. apply law_chance. auto.
  - rewrite <- (map_length snd now), B, map_length. auto.
Qed.

Lemma last_round : limits have part = [] -> balanced kept.
Proof.
  intros E. destruct want_facts as (_ & _ & a & F). exists a. apply Forall_forall. intros r I.
  assert (P : forall x, point kept x = comb part (rows_of S) x) by (intros x; rewrite kept_point, E; simpl; ring).
  rewrite (scalar_ext V Rs _ _ _ _ (fun x => eq_refl (r x)) P). rewrite Forall_forall in F. apply F.
  rewrite kept_is in I. destruct now_parts as [_ B]. rewrite <- B. apply in_map_iff in I as [o [<- I]].
  apply in_map_iff in I as [m [<- I]]. apply filter_In in I as [I _]. apply in_map, in_map. auto.
Qed.
End Kept.

Theorem nearest_ends : forall rounds S, (length S < rounds)%nat -> is_law S -> independent (rows_of S) ->
  exists found, nearest V Rs t rounds S = Some found /\ is_law found /\ positive_law found /\
    independent (rows_of found) /\ balanced found /\ dist found <= dist (kept_orders V Rs t S).
Proof.
  induction rounds as [|rounds IH]; intros S L law free; [lia|]. destruct (kept_law S law free) as (A & B & C). simpl.
  destruct (limits (map fst S) (want V Rs t S)) as [|b more] eqn:E.
  - exists (kept_orders V Rs t S).
    exact (conj eq_refl (conj A (conj B (conj C (conj (last_round S law free E) (Rle_refl _)))))).
  - destruct (IH (kept_orders V Rs t S)) as (found & F & A' & B' & C' & D & G); auto.
    + assert (length (kept_orders V Rs t S) < length S)%nat by (apply fewer; auto; rewrite E; discriminate). lia.
    + exists found. refine (conj F (conj A' (conj B' (conj C' (conj D (Rle_trans _ _ _ G _)))))). apply never_further; auto.
Qed.

End Steps.
