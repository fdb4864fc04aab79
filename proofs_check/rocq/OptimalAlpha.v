(** The plan of a node's optimum ends, and keeps alpha*: no valid rule at the node keeps more.

    Every step comes nearer to t, and how near the kept orders come is a matter of which they are: no set of orders
    comes twice, and of n tokens that can be drawn there are 2^(n!) sets of orders. *)

Require Import Reals Lra Lia List Arith Bool Permutation Factorial.
Require Import Programs Numbers Means Lossless Lift Priority Optimal.
Require Import OptimalOrders OptimalDownhill OptimalBalance OptimalSteps.
Import ListNotations RealPrograms.
Open Scope R_scope.

(** ** A new order *)

Section Nearer.
Variable V : nat.
Variable Rs : list row.
Variable t : row.
Notation scalar := (scalar V Rs).
Notation short := (short Rs t).
Notation is_order := (is_order V Rs).
Notation is_law := (is_law V Rs).
Notation independent := (independent V Rs).
Notation rows_of S := (map short (map snd S)).
Notation point := (OptimalSteps.point Rs t).

Lemma new_independent : forall S v a, is_law S -> independent (rows_of S) ->
  Forall (fun r => scalar r (point S) = a) (rows_of S) -> scalar v (point S) < a -> independent (rows_of S ++ [v]).
Proof.
  intros S v a law free F H cs L W Z. rewrite app_length in L. simpl in L.
  destruct (exists_last (l := cs)) as (ds & e & ->); [destruct cs; simpl in L; [lia|discriminate]|].
  rewrite app_length in L. simpl in L.
  assert (K : length ds = length (rows_of S)) by lia.
  assert (U : forall x, comb (ds ++ [e]) (rows_of S ++ [v]) x = 1 * comb ds (rows_of S) x + e * v x).
  { intros x. revert K. clear. generalize (rows_of S).
    induction ds as [|d ds IH]; intros [|r rows] K; try discriminate; simpl; [ring|].
    rewrite IH by auto. ring. }
  assert (X : summed ds + e = 0) by (rewrite <- summed_last; exact W).
  pose proof (scalar_null V Rs _ (point S) Z) as Q.
  rewrite (scalar_ext V Rs _ _ _ _ U (fun x => eq_refl)), scalar_linear, (scalar_comb V Rs _ a) in Q by auto.
  assert (e = 0) by (assert (e * (a - scalar v (point S)) = 0) by (replace (summed ds) with (- e) in Q by lra; lra);
  nra). subst e.
  apply Forall_app. split; [|constructor; auto]. apply free; auto; [lra|].
  rewrite <- Z. apply scalar_ext; intros x; rewrite U; ring.
Qed.

Theorem nearer : forall S o, is_law S -> positive_law S -> independent (rows_of S) -> balanced V Rs t S -> is_order o ->
  scalar (short o) (point S) < OptimalSteps.dist V Rs t S ->
  is_law (S ++ [(0, o)]) /\ independent (rows_of (S ++ [(0,
  o)])) /\ OptimalSteps.dist V Rs t (kept_orders V Rs t (S ++ [(0, o)])) < OptimalSteps.dist V Rs t S.
Proof.
  intros S o law pos free [a F] O H. set (T := S ++ [(0, o)]).
  assert (RT : rows_of T = rows_of S ++ [short o]) by (unfold T; rewrite !map_app; auto).
  assert (HT : map fst T = map fst S ++ [0]) by (unfold T; rewrite map_app; auto).
  assert (DA : OptimalSteps.dist V Rs t S = a).
  { unfold OptimalSteps.dist. unfold OptimalSteps.point at 1.
    rewrite (scalar_comb V Rs _ a) by (rewrite ?map_length; auto). rewrite (proj2 law).
    ring. }
  assert (lawT : is_law T).
  { split.
    - intros c o' I. apply in_app_or in I as [I|[E|[]]]; [apply (proj1 law c o' I)|]. injection E as <- <-.
      split; [lra|auto].
    - rewrite HT, summed_last, Rplus_0_r. apply law. }
  assert (freeT : independent (rows_of T)) by (rewrite RT; apply (new_independent S _ a); auto; lra).
  split; [auto|]. split; [auto|].
  assert (PT : forall x, point T x = point S x).
  { intros x. unfold OptimalSteps.point. rewrite RT, HT.
    assert (K : length (map fst S) = length (rows_of S)) by (rewrite !map_length;
    auto).
    revert K. clear. generalize (map fst S), (rows_of S).
    induction l as [|c l IH]; intros [|r rows] K; try discriminate; simpl; [ring|].
    rewrite IH by auto. ring. }
  assert (DT : OptimalSteps.dist V Rs t T = OptimalSteps.dist V Rs t S) by (unfold OptimalSteps.dist; apply scalar_ext;
  auto).
  destruct (want_facts V Rs t T lawT freeT) as (L & W & b & B). set (part := want V Rs t T) in *.
  assert (LT : length part = (length S + 1)%nat) by (rewrite L, HT, app_length, map_length; auto).
  destruct (exists_last (l := part)) as (ws & e & E); [destruct part; simpl in LT; [lia|discriminate]|].
  set (w := comb part (rows_of T)) in *.
  assert (U : forall x, w x = 1 * comb ws (rows_of S) x + e * short o x).
  { intros x. unfold w. rewrite RT, E. assert (K : length ws = length (rows_of S)) by (rewrite E, app_length in LT;
    simpl in LT; rewrite !map_length; lia).
    revert K. clear. generalize (rows_of S). induction ws as [|d ds IH]; intros [|r rows] K; try discriminate; simpl;
    [ring|].
    rewrite IH by auto. ring. }
  assert (K : length ws = length (rows_of S)) by (rewrite E, app_length in LT; simpl in LT; rewrite !map_length; lia).
  assert (X : summed ws + e = 1) by (rewrite <- summed_last, <- E; exact W).
  assert (Q : scalar w (point S) = a - e * (a - scalar (short o) (point S))).
  { rewrite (scalar_ext V Rs _ _ _ _ U (fun x => eq_refl)), scalar_linear, (scalar_comb V Rs _ a) by auto.
    replace (summed ws) with (1 - e) by lra. ring. }
  assert (Y : scalar (point S) w = scalar w w).
  { rewrite <- (scalar_ext V Rs _ _ w w PT (fun x => eq_refl)).
    apply balance_square; auto; [rewrite !map_length; auto|apply lawT]. }
  destruct (distances V Rs t T lawT freeT) as [D1 D2]. fold part w in D1, D2. rewrite DT, DA in D2.
  rewrite (scalar_sym V Rs w), Y in Q.
  pose proof (scalar_nonneg V Rs (away V Rs t T)) as N. assert (EA : scalar (away V Rs t T) (away V Rs t T) =
  e * (a - scalar (short o) (point S))) by lra.
  assert (P : 0 < scalar (away V Rs t T) (away V Rs t T)).
  { destruct (Rle_lt_or_eq_dec _ _ N) as [|Z]; auto. exfalso. symmetry in Z.
    assert (e = 0) by (assert (e * (a - scalar (short o) (point S)) = 0) by lra; nra).
    pose proof (scalar_null V Rs _ (short o) Z) as M. unfold away in M. fold part w in M. rewrite scalar_linear in M.
    rewrite (scalar_ext V Rs _ _ _ _ PT (fun x => eq_refl (short o x))) in M.
    assert (C : scalar (short o) w = b /\ scalar w w = b).
    { split; [rewrite Forall_forall in B; apply B; rewrite RT; apply in_or_app; simpl; auto|].
      unfold w at 1. rewrite (scalar_comb V Rs _ b); auto; [rewrite W; ring|rewrite L, !map_length; auto]. }
    destruct C as [C1 C2]. rewrite (scalar_sym V Rs w), C1, (scalar_sym V Rs (point S)) in M. nra. }
  assert (e0 : 0 < e) by nra.
  assert (S0 : 0 < least (limits (map fst T) part) 1).
  { destruct (limits (map fst T) part) as [|r rs] eqn:EB; [simpl; lra|]. rewrite <- EB.
    assert (I : In (least (limits (map fst T) part) 1) (limits (map fst T) part)) by (apply least_in; rewrite EB;
    discriminate).
    apply limits_in in I as (h & v & I & J & ->). apply Rmult_lt_0_compat.
    - rewrite HT, E in I. assert (KS : length (map fst S) = length ws) by (rewrite K, !map_length; auto).
      assert (In (h, v) (combine (map fst S) ws) \/ (h, v) = (0, e)).
      { revert KS I. clear. generalize (map fst S).
        induction ws as [|d ds IH]; intros [|r rows] KS I; try discriminate; simpl in I; [|].
        - destruct I as [I|[]]. auto.
        - destruct I as [I|I]; [left; simpl; auto|]. destruct (IH rows) as [Q|Q]; auto. left. simpl. auto. }
      destruct H0 as [I'|I']; [|injection I' as -> ->; lra]. apply in_combine_l, in_map_iff in I' as [[c o'] [<- I']].
      apply (pos c o' I').
    - apply Rinv_0_lt_compat. pose proof (law_chance V Rs T h lawT (in_combine_l _ _ _ _ I)). lra. }
  pose proof (step_range (map fst T) part (fun h => law_chance V Rs T h lawT)) as R.
  rewrite D1, DA. set (s := least _ _) in *. assert ((1 - s) * (1 - s) < 1) by nra. nra.
Qed.

End Nearer.

(** ** All orders, and all sets of them *)

Fixpoint insertions (x : token) (l : list token) : list (list token) :=
  match l with [] => [[x]] | y :: more => (x :: l) :: map (cons y) (insertions x more) end.

Fixpoint permutations (l : list token) : list (list token) :=
  match l with [] => [[]] | x :: l => flat_map (insertions x) (permutations l) end.

Fixpoint sets (n : nat) : list (list bool) :=
  match n with 0 => [[]] | S n => map (cons true) (sets n) ++ map (cons false) (sets n) end.

Lemma insertions_in : forall x A B, In (A ++ x :: B) (insertions x (A ++ B)).
Proof.
  intros x A B. induction A as [|y A IH]; simpl; [destruct B; simpl; auto|]. right. apply in_map. auto.
Qed.

Lemma permutations_in : forall l k, Permutation k l -> In k (permutations l).
Proof.
  induction l as [|x l IH]; intros k P; simpl.
  - apply Permutation_sym, Permutation_nil in P. auto.
  - assert (I : In x k) by (apply (Permutation_in _ (Permutation_sym P)); simpl; auto).
    apply in_split in I as (A & B & ->). apply in_flat_map. exists (A ++ B). split; [|apply insertions_in].
    apply IH. symmetry. apply (Permutation_cons_app_inv A B (a := x)), Permutation_sym, P.
Qed.

Lemma insertions_length : forall x l, length (insertions x l) = S (length l) /\ forall k, In k (insertions x l) ->
  length k = S (length l).
Proof.
  intros x. induction l as [|y l [A B]]; simpl; [split; auto; intros k [<-|[]]; auto|].
  rewrite map_length, A. split; auto. intros k [<-|I]; auto. apply in_map_iff in I as [m [<- I]]. simpl. rewrite B; auto.
Qed.

Lemma permutations_length : forall l, length (permutations l) = fact (length l) /\
  forall k, In k (permutations l) -> length k = length l.
Proof.
  induction l as [|x l [A B]]; [simpl; split; auto; intros k [<-|[]]; auto|]. split.
  - change (length (flat_map (insertions x) (permutations l)) = (S (length l) * fact (length l))%nat). rewrite <- A.
    revert B. clear.
    generalize (permutations l). induction l0 as [|k ks IH]; intros B; simpl; [lia|].
    rewrite app_length, IH by (intros; apply B; simpl; auto).
    rewrite (proj1 (insertions_length x k)), (B k) by (simpl; auto). lia.
  - intros k I. simpl in I. apply in_flat_map in I as [m [I J]]. rewrite (proj2 (insertions_length x m) k J), (B m I). auto.
Qed.

Lemma sets_length : forall n, length (sets n) = (2 ^ n)%nat.
Proof. induction n as [|n IH]; simpl; auto. rewrite app_length, !map_length, IH. lia. Qed.

Lemma sets_in : forall n l, length l = n -> In l (sets n).
Proof.
  induction n as [|n IH]; intros [|b l] L; try discriminate; simpl; auto. injection L as L. apply in_or_app.
  destruct b; [left|right]; apply in_map; auto.
Qed.

Section Plan.
Variable V : nat.
Variable Rs : list row.
Hypothesis laws : Forall (is_row V) Rs.
Hypothesis some : Rs <> [].
Variable t : row.
Hypothesis t_nonneg : forall x, 0 <= t x.
Notation drawable := (drawable V Rs).
Notation lacking := (lacking V Rs t).
Notation scalar := (scalar V Rs).
Notation short := (short Rs t).
Notation is_law := (is_law V Rs).
Notation point := (OptimalSteps.point Rs t).
Notation dist := (dist V Rs t).
Notation rows_of S := (map short (map snd S)).

(** What the plan holds after every step. *)
Definition good (S : list (R * list token)) : Prop :=
  is_law S /\ positive_law S /\ independent V Rs (rows_of S) /\ balanced V Rs t S.

Definition among (S : list (R * list token)) : list bool :=
  map (fun o => if in_dec (list_eq_dec Nat.eq_dec) o (map snd S) then true else false) (permutations drawable).

(** How near the kept orders come is a matter of which they are. *)
Lemma nearness : forall S T, good S -> good T -> among S = among T -> dist S = dist T.
Proof.
  assert (K : forall S T, good S -> good T -> among S = among T -> scalar (point T) (point S) = dist S).
  { intros S T (L & _ & _ & a & F) (M & _ & _ & _) E.
    assert (DS : dist S = a).
    { unfold OptimalSteps.dist. unfold OptimalSteps.point at 1.
      rewrite (scalar_comb V Rs _ a) by (rewrite ?map_length; auto).
      rewrite (proj2 L). ring. }
    rewrite DS. unfold OptimalSteps.point at 1. rewrite (scalar_comb V Rs _ a); [rewrite (proj2 M);
    ring|rewrite !map_length; auto|].
    apply Forall_forall. intros r I. apply in_map_iff in I as [o [<- I]]. rewrite Forall_forall in F. apply F, in_map.
    assert (J : In o (permutations drawable)).
    { apply permutations_in. apply in_map_iff in I as [[c o'] [<- I]]. apply (proj1 M c o' I). }
    assert (Q : (if in_dec (list_eq_dec Nat.eq_dec) o (map snd S) then true else false) =
                (if in_dec (list_eq_dec Nat.eq_dec) o (map snd T) then true else false)).
    { revert J E. unfold among. generalize (permutations drawable). induction l as [|k l IH]; intros J E; [destruct J|].
      injection E as E1 E2. destruct J as [->|J]; auto. }
    destruct (in_dec (list_eq_dec Nat.eq_dec) o (map snd S)); auto.
    destruct (in_dec (list_eq_dec Nat.eq_dec) o (map snd T)); [discriminate|contradiction]. }
  intros S T A B E. rewrite <- (K S T A B E), <- (K T S B A (eq_sym E)). apply scalar_sym.
Qed.

Lemma point_lead : forall S x, is_law S -> point S x = lead S Rs x - t x.
Proof.
  intros S x [_ W]. rewrite <- (Rmult_1_l (t x)), <- W. clear W. unfold OptimalSteps.point.
  induction S as [|[c o] S IH]; [simpl; unfold lead; simpl; ring|]. rewrite lead_cons. simpl. rewrite IH.
  unfold RealPrograms.short.
  change (c * (led_in Rs o x - t x) + (lead S Rs x - summed (map fst S) * t x) =
    c * led_in Rs o x + lead S Rs x - (c + summed (map fst S)) * t x). ring.
Qed.

Lemma test_or_nearer : forall S, is_law S -> proved_best V Rs t (lacking (lead S Rs)) S = false ->
  scalar (short (lacking (lead S Rs))) (point S) < dist S.
Proof.
  intros S L H. destruct (test_or_downhill V Rs laws some t t_nonneg S L) as [E|D]; [congruence|].
  set (o := lacking (lead S Rs)) in *. rewrite (scalar_sym V Rs (short o)).
  rewrite (scalar_ext V Rs _ (point S) _ (fun x => 1 * short o x + -1 * point S x)) in D.
  - rewrite scalar_sym, scalar_linear, (scalar_sym V Rs (short o)) in D. unfold OptimalSteps.dist. lra.
  - intros x. rewrite point_lead; auto.
  - intros x. rewrite point_lead by auto. unfold RealPrograms.short. change (led_in Rs o x - lead S Rs x =
      1 * (led_in Rs o x - t x) + -1 * (lead S Rs x - t x)). ring.
Qed.

(** The new order is none of those kept. *)
Lemma new_order : forall S o, good S -> scalar (short o) (point S) < dist S -> ~ In o (map snd S).
Proof.
  intros S o ((_ & W) & _ & _ & a & F) H I. assert (D : dist S = a).
  { unfold OptimalSteps.dist. unfold OptimalSteps.point at 1.
    rewrite (scalar_comb V Rs _ a) by (rewrite ?map_length; auto). rewrite W. ring. }
  rewrite Forall_forall in F. rewrite (F (short o)) in H by (apply in_map; auto). lra.
Qed.

Lemma plan_ends : forall steps seen S, good S -> NoDup seen ->
  (forall each, In each seen -> exists T, good T /\ among T = each /\ dist S < dist T) ->
  (2 ^ fact (length drawable) <= steps + length seen)%nat ->
  exists found, plan_from V Rs t steps S = Some found /\ good found /\ proved_best V Rs t (lacking (lead found Rs)) found
  = true.
Proof.
  induction steps as [|steps IH]; intros seen S G D E B.
  all: assert (N : NoDup (among S :: seen)) by (constructor; auto; intros I; destruct (E _ I) as (T & GT & ET & LT);
    rewrite (nearness S T G GT (eq_sym ET)) in LT; lra).
  all: assert (C : (1 + length seen <= 2 ^ fact (length drawable))%nat) by (
    change (length (among S :: seen) <= 2 ^ fact (length drawable))%nat;
    rewrite <- (proj1 (permutations_length drawable)), <- sets_length;
    apply NoDup_incl_length; auto; intros each [<-|I]; [|destruct (E _ I) as (T & _ & <- & _)]; apply sets_in;
    unfold among; apply map_length).
  - simpl in B. lia.
  - simpl. destruct (proved_best V Rs t (lacking (lead S Rs)) S) eqn:P; [exists S; auto|].
    destruct G as (L & Q & F & W). pose proof (test_or_nearer S L P) as H.
    destruct (nearer V Rs t S (lacking (lead S Rs)) L Q F W (lacking_perm V Rs t _) H) as (L' & F' & H').
    destruct (nearest_ends V Rs t (2 + length S) (S ++ [(0,
    lacking (lead S Rs))])) as (found & K & A1 & A2 & A3 & A4 & A5); auto.
    { rewrite app_length. simpl. lia. }
    simpl in K. simpl. rewrite K. apply (IH (among S :: seen)); auto.
    + exact (conj A1 (conj A2 (conj A3 A4))).
    + intros each [<-|I].
      * exists S. split; [exact (conj L (conj Q (conj F W)))|]. split; auto. lra.
      * destruct (E _ I) as (T & GT & ET & LT). exists T. split; auto. split; auto. lra.
    + simpl. lia.
Qed.

Lemma start_good : good [(1, lacking (fun _ => 0))].
Proof.
  split; [|split; [|split]].
  - split; [|simpl; ring]. intros c o [E|[]]. injection E as <- <-. split; [lra|apply lacking_perm].
  - intros c o [E|[]]. injection E as <- <-. lra.
  - intros [|c [|d cs]] K S _; try discriminate. simpl in S. constructor; auto. lra.
  - eexists. simpl. constructor; auto.
Qed.

Lemma law_sound : forall S, is_law S -> sound_orders V S.
Proof.
  intros S [L W]. split.
  - intros c o I. destruct (L c o I) as [C P]. split; auto. apply (order_once V Rs o P).
  - apply Req_le. rewrite <- W. clear. induction S as [|m S IH]; simpl; auto. rewrite IH. auto.
Qed.

(** The plan ends at a law of orders that passes the test; what it keeps is the least bound of all sets, which is alpha*. *)
Theorem optimal_ends : forall steps, (2 ^ fact (length drawable) <= steps)%nat -> exists os X,
  optimal_orders V Rs t steps = Some os /\ sound_orders V os /\
  total V (fun x => minimum (t x) (lead os Rs x)) = bound V X Rs t /\ forall Y, bound V X Rs t <= bound V Y Rs t.
Proof.
  intros steps B. destruct (plan_ends steps [] _ start_good) as (os & E & G & P).
  - constructor.
  - intros each [].
  - simpl. lia.
  - destruct (test_means_best V Rs laws t t_nonneg os (proj1 G) P) as [X H]. exists os, X.
    split; [exact E|]. split; [apply law_sound, G|]. split; auto. intros Y. rewrite <- H. apply kept_below; auto. apply G.
Qed.

(** No valid rule, of any masses, keeps more. *)
Theorem optimal_reaches_alpha : forall steps, (2 ^ fact (length drawable) <= steps)%nat -> total V t <= 1 ->
  exists os, optimal_orders V Rs t steps = Some os /\
  forall parts c k ms rest,
  (forall drawn, length (parts c k drawn) = length drawn /\ (forall a : R, In a (parts c k drawn) -> 0 <= a) /\
    forall x, In x drawn -> given x drawn (parts c k drawn) = 1) ->
  (forall drawn, length (ms drawn) = length drawn /\ (forall w, In w (ms drawn) -> 0 <= w) /\ sum (ms drawn) <= 1) ->
  (forall x, 0 <= rest x) ->
  (forall x, In x (vocabulary V) -> mean V (draw_each Rs) (fun drawn => given x drawn (ms drawn)) + rest x = t x) ->
  mean V (draw_each Rs) (fun drawn => sum (ms drawn)) <=
    mean V (draw_each Rs) (fun drawn => sum (optimal_masses (fun _ _ => Rs) (fun _ _ _ => os) parts c k t drawn)).
Proof.
  intros steps B T. destruct (optimal_ends steps B) as (os & X & E & S & H & _). exists os. split; auto.
  intros parts c k ms rest PS M N W.
  set (same := fun (_ : context) (_ : nat) => parts c k).
  change (mean V (draw_each Rs) (fun drawn => sum (ms drawn)) <=
    mean V (draw_each Rs) (fun drawn => sum (optimal_masses (fun _ _ => Rs) (fun _ _ _ => os) same c k t drawn))).
  apply (optimal_keeps_most V (fun _ _ => Rs) (fun _ _ => laws) (fun _ _ _ => os) (fun _ _ _ => S) same (fun _ _ => PS) X
    c k t ms rest t_nonneg T H M N W).
Qed.

End Plan.
