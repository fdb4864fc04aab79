(** Where the plan's test fails, the new order leads downhill: it lies below what the kept ones have, as seen from t.

    The order by (t - lead) / pi puts first what leads too seldom.  If it does not go downhill, the tokens with
    t > lead, which stand first in it, lead as often as any law of orders lets them: they are the set of the test. *)

Require Import Reals Lra Lia List Arith Bool Permutation Sorted.
Require Import Programs Numbers Means Lossless Priority Optimal OptimalOrders.
Import ListNotations RealPrograms.
Open Scope R_scope.

(** Terms in falling order of k: what stands first counts at least as much. *)
Lemma abel : forall (k d : row) l s low high, 0 <= s -> low <= high -> (forall x, In x l -> low <= k x <= high) ->
  StronglySorted (fun x y => k y <= k x) l -> (forall A B, l = A ++ B -> 0 <= s + over A d) ->
  low * (s + over l d) - high * s <= over l (fun x => k x * d x).
Proof.
  intros k d. induction l as [|x l IH]; intros s low high S LH K O P; simpl; [nra|].
  inversion O as [|? ? O' F]; subst. rewrite Forall_forall in F.
  pose proof (P [x] l eq_refl) as Px. simpl in Px. destruct (K x (or_introl eq_refl)) as [K1 K2].
  assert (H : low * ((s + d x) + over l d) - k x * (s + d x) <= over l (fun x => k x * d x)).
  { apply IH; auto; [lra| |].
    - intros y I. split; [apply K; simpl; auto|apply F; auto].
    - intros A B E. specialize (P (x :: A) B). rewrite E in P. specialize (P eq_refl). simpl in P. lra. }
  assert (k x * s <= high * s) by (apply Rmult_le_compat_r; auto). lra.
Qed.

(** Numbers in falling order: first those above 0, then the others. *)
Lemma parted : forall (k : row) l, StronglySorted (fun x y => k y <= k x) l ->
  exists X Y, l = X ++ Y /\ (forall x, In x X -> 0 < k x) /\ (forall y, In y Y -> k y <= 0).
Proof.
  intros k. induction l as [|x l IH]; intros S.
  - exists [], []. repeat split; intros ? [].
  - inversion S as [|? ? S' F]; subst. rewrite Forall_forall in F. destruct (Rlt_dec 0 (k x)) as [P|P].
    + destruct (IH S') as (X & Y & E & A & B). exists (x :: X), Y. subst l. repeat split; auto. intros y [<-|I]; auto.
    + exists [], (x :: l). repeat split; auto; [intros ? []|]. intros y [<-|I]; [lra|]. specialize (F y I). lra.
Qed.

Lemma placed_sorted : forall (k : row) l,
  StronglySorted (fun x y => k y <= k x) (fold_right (place (fun y x => Real.less (k x) (k y))) [] l).
Proof.
  assert (P : forall (k : row) x l, StronglySorted (fun x y => k y <= k x) l ->
    StronglySorted (fun x y => k y <= k x) (place (fun y x => Real.less (k x) (k y)) x l)).
  { intros k x. induction l as [|y l IH]; intros S; simpl; [repeat constructor|].
    inversion S as [|? ? S' F]; subst. destruct (Real.less (k x) (k y)) eqn:E.
    - apply less_true in E. constructor; auto. rewrite Forall_forall in *. intros z I.
      assert (Q : In z (x :: l)).
      { clear - I. revert I. induction l as [|w l IHl]; simpl; auto. destruct (Real.less (k x) (k w)); simpl; [|tauto].
        intros [->|I]; auto. destruct (IHl I) as [->|J]; auto. }
      destruct Q as [->|Q]; [lra|]. auto.
    - apply less_false in E. constructor; auto. constructor; auto. rewrite Forall_forall in *. intros z I.
      specialize (F z I). lra. }
  intros k. induction l as [|x l IH]; simpl; auto. constructor.
Qed.

Section Downhill.
Variable V : nat.
Notation total := (total V).
Variable Rs : list row.
Hypothesis laws : Forall (is_row V) Rs.
Hypothesis some : Rs <> [].
Variable t : row.
Hypothesis t_nonneg : forall x, 0 <= t x.
Notation pi := (included Rs).
Notation drawable := (drawable V Rs).
Notation led_in := (led_in Rs).
Notation lacking := (lacking V Rs t).
Notation scalar := (scalar V Rs).
Notation reach := (reach V Rs).
Notation is_order := (is_order V Rs).
Notation is_law := (is_law V Rs).

Lemma least_le : forall l default b, In b l -> least l default <= b.
Proof.
  assert (F : forall l a b, a <= b \/ In b l -> fold_left minimum l a <= b).
  { induction l as [|c l IH]; simpl; intros a b [H|I]; try contradiction; auto; apply IH; rewrite minimum_Rmin.
    - left. apply Rle_trans with a; [apply Rmin_l|auto].
    - destruct I as [->|I]; auto. left. apply Rmin_r. }
  intros [|a l] default b I; [destruct I|]. apply F. destruct I as [->|I]; auto. left. apply Rle_refl.
Qed.

Lemma least_in : forall l default, l <> [] -> In (least l default) l.
Proof.
  intros [|a l] default N; [contradiction|]. clear N. simpl. revert a. induction l as [|c l IH]; intros a; simpl; auto.
  rewrite minimum_Rmin. destruct (IH (Rmin a c)) as [E|E]; auto. rewrite <- E at 1. unfold Rmin in *.
  destruct (Rle_dec a c); auto.
Qed.

Lemma bounds_in : forall had o sum b, In b (bounds t o had sum) <->
  exists X Y, o = X ++ Y /\ b = sum + over X (fun x => had x - t x).
Proof.
  intros had. induction o as [|x o IH]; intros sum b.
  - simpl. split.
    + intros [<-|[]]. exists [], []. simpl. split; auto. ring.
    + intros (X & Y & E & ->). symmetry in E. apply app_eq_nil in E as [-> ->]. left. simpl. ring.
  - change (In b (bounds t (x :: o) had sum)) with (sum = b \/ In b (bounds t o had (sum + (had x - t x)))). rewrite IH.
    split.
    + intros [<-|(X & Y & -> & ->)].
      * exists [], (x :: o). simpl. split; auto. ring.
      * exists (x :: X), Y. simpl. split; auto. ring.
    + intros ([|y X] & Y & E & ->); [left; simpl; ring|]. injection E as <- ->. right. exists X, Y. split; auto. simpl. ring.
Qed.

Lemma total_mem : forall Y f, NoDup Y -> (forall y, In y Y -> In y (vocabulary V)) ->
  total (fun y => (if mem Y y then 1 else 0) * f y) = over Y f.
Proof.
  intros Y f N I. rewrite <- (over_perm (filter (mem Y) (vocabulary V)) Y f).
  - rewrite over_filter. apply (total_ext V). intros y. destruct (mem Y y); ring.
  - apply NoDup_Permutation; auto; [apply NoDup_filter, seq_NoDup|]. intros y. rewrite filter_In, mem_in.
    split; [tauto|auto].
Qed.

(** All but the last tokens of an order, with those that cannot be drawn. *)
Definition not_last (Y : list token) (y : token) : bool := negb (mem Y y).

Lemma bound_first : forall X Y, is_order (X ++ Y) -> bound V (not_last Y) Rs t = reach X + over Y t.
Proof.
  intros X Y P. destruct (order_once V Rs _ P) as [D I]. unfold bound, reach. f_equal.
  - f_equal. f_equal. unfold mass. apply map_ext_in. intros R J. apply total_ext_in. intros y K. unfold off_set, not_last.
    destruct (mem X y) eqn:A, (mem Y y) eqn:B; simpl; auto.
    + exfalso. apply mem_in in A, B. clear - D A B. induction X as [|x X IH]; [destruct A|]. inversion D; subst.
      destruct A as [->|A]; [apply H1, in_or_app; auto|auto].
    + rewrite (pi_zero V Rs laws y); [ring| |auto]. intros C. apply mem_out in A, B.
      assert (In y (X ++ Y)) by (apply (Permutation_in _ (Permutation_sym P)), drawable_in; auto).
      apply in_app_or in H. tauto.
  - rewrite (total_ext V _ (fun y => (if mem Y y then 1 else 0) * t y)) by (intros y; unfold off_set, not_last;
    destruct (mem Y y); simpl; ring).
    apply total_mem.
    + clear - D. induction X; auto. inversion D. auto.
    + intros y J. apply I, in_or_app. auto.
Qed.

Section Test.
Variable os : list (R * list token).
Hypothesis law : is_law os.
Notation had := (lead os Rs).
Notation o := (lacking had).
Notation kept := (total (fun x => minimum (t x) (had x))).

Lemma order : is_order o.
Proof. apply (lacking_perm V Rs t). Qed.

Lemma kept_over : kept = over o (fun x => Rmin (t x) (had x)).
Proof.
  rewrite (over_perm o drawable) by apply order. rewrite <- total_drawable.
  - apply total_ext. intros. apply minimum_Rmin.
  - intros x _ Z. rewrite (lead_off V Rs os x (proj1 law) Z). apply Rmin_right, t_nonneg.
Qed.

Lemma kept_at_most : forall X Y, o = X ++ Y -> kept <= reach X + over Y t.
Proof.
  intros X Y E. pose proof order as P. rewrite kept_over. rewrite E in P |- *. rewrite over_app.
  destruct (order_once V Rs _ P) as [D _]. assert (N : NoDup X) by (clear - D; induction X; [constructor|];
    inversion D; subst; constructor; auto; intros I; apply H1, in_or_app; auto).
  assert (over X (fun x => Rmin (t x) (had x)) <= reach X).
  { apply Rle_trans with (over X had); [apply over_le; intros; apply Rmin_r|]. destruct law as [L S].
    rewrite <- (Rmult_1_l (reach X)).
    rewrite <- S at 1. apply (lead_over V Rs); auto. intros. apply (led_at_most V Rs laws); auto. }
  assert (over Y (fun x => Rmin (t x) (had x)) <= over Y t) by (apply over_le; intros; apply Rmin_l). lra.
Qed.

(** A law of orders keeps no more than any bound. *)
Theorem kept_below : forall X, kept <= bound V X Rs t.
Proof.
  intros X. set (Xs := filter X (vocabulary V)). destruct law as [L S].
  assert (M : forall y, In y (vocabulary V) -> off_set (mem Xs) y = off_set X y).
  { intros y I. unfold off_set. replace (mem Xs y) with (X y); auto. apply eq_true_iff_eq. rewrite mem_in. unfold Xs.
    rewrite filter_In. tauto. }
  assert (A : over Xs had <= reach Xs).
  { rewrite <- (Rmult_1_l (reach Xs)), <- S. apply (lead_over V Rs); auto.
    intros. apply (led_at_most V Rs laws); auto. apply NoDup_filter, seq_NoDup. }
  assert (B : reach Xs = 1 - product (mass V (off_set X) Rs)).
  { unfold OptimalOrders.reach. f_equal. f_equal. unfold mass. apply map_ext. intros R. apply total_ext_in.
    intros y I. rewrite M; auto. }
  unfold bound. rewrite <- B. apply Rle_trans with (over Xs had + total (fun y => off_set X y * t y)); [|lra].
  unfold Xs. rewrite over_filter. change (over (vocabulary V) (fun x => if X x then had x else 0)) with (total (fun x =>
  if X x then had x else 0)).
  rewrite <- total_add. apply total_le. intros x. rewrite minimum_Rmin. unfold off_set.
  destruct (X x); [pose proof (Rmin_r (t x) (had x))|pose proof (Rmin_l (t x) (had x))]; lra.
Qed.

Lemma bound_at : forall X Y, o = X ++ Y ->
  over drawable t + over X (fun x => led_in o x - t x) = reach X + over Y t.
Proof.
  intros X Y E. rewrite over_sub. rewrite <- (over_perm o drawable) by apply order.
  assert (over X (led_in o) = reach X) by (rewrite E; apply (led_first V Rs laws); rewrite <- E; apply order).
  rewrite H. rewrite E at 1. rewrite over_app. lra.
Qed.

Theorem test_means_best : proved_best V Rs t o os = true -> exists X, kept = bound V X Rs t.
Proof.
  unfold proved_best. intros H. apply negb_true_iff, less_false in H.
  assert (I : In (least (bounds t o (led_in o) (over drawable t)) 0) (bounds t o (led_in o) (over drawable t)))
    by (apply least_in; destruct o; discriminate).
  apply bounds_in in I as (X & Y & E & B). exists (not_last Y). rewrite (bound_first X Y) by (rewrite <- E; apply order).
  apply Rle_antisym; [apply kept_at_most; auto|]. rewrite <- (bound_at X Y E), <- B. exact H.
Qed.

Theorem test_or_downhill : proved_best V Rs t o os = true \/
  scalar (fun x => had x - t x) (fun x => led_in o x - had x) < 0.
Proof.
  destruct (Rlt_dec (scalar (fun x => had x - t x) (fun x => led_in o x - had x)) 0) as [|H]; auto. left.
  set (k := fun x => (t x - had x) / pi x). set (d := fun x => led_in o x - had x).
  assert (S : over o (fun x => k x * d x) <= 0).
  { rewrite (over_perm o drawable) by apply order. rewrite scalar_over in H.
    rewrite (over_ext _ _ (fun x => -1 * ((had x - t x) * (led_in o x - had x) / pi x))).
    - rewrite over_mul. lra.
    - intros x I. apply drawable_in in I as [_ P]. unfold k, d. field. lra. }
  assert (G : StronglySorted (fun x y => k y <= k x) o) by apply (placed_sorted k).
  assert (P : forall X Y, o = X ++ Y -> 0 <= over X d).
  { intros X Y E. unfold d. rewrite over_sub. pose proof order as Q.
    assert (over X (led_in o) = reach X) by (rewrite E; apply (led_first V Rs laws); rewrite <- E; auto). rewrite H0.
    rewrite E in Q. destruct (order_once V Rs _ Q) as [D _]. assert (N : NoDup X) by (clear - D; induction X; [constructor|];
      inversion D; subst; constructor; auto; intros I; apply H1, in_or_app; auto).
    assert (over X had <= reach X); [|lra]. destruct law as [L Z]. rewrite <- (Rmult_1_l (reach X)), <- Z at 1.
    apply (lead_over V Rs); auto. intros. apply (led_at_most V Rs laws); auto. }
  assert (Z : over o d = 0).
  { unfold d. rewrite over_sub, !(over_perm o drawable) by apply order. rewrite (led_all V Rs laws some) by apply order.
    rewrite (lead_all V Rs laws some) by apply law. rewrite (proj2 law). ring. }
  destruct (parted k o G) as (X & Y & E & A & B).
  assert (low : forall l : list token, exists a, forall x, In x l -> a <= k x).
  { induction l as [|x l [a L]]; [exists 0; intros ? []|]. exists (Rmin a (k x)). intros y [->|I]; [apply Rmin_r|].
    apply Rle_trans with a; [apply Rmin_l|auto]. }
  assert (pos : forall l : list token, (forall x, In x l -> 0 < k x) -> exists a, 0 < a /\ forall x, In x l -> a <= k x).
  { induction l as [|x l IH]; intros Q; [exists 1; split; [lra|intros ? []]|].
    destruct IH as [a [L M]]; [intros; apply Q; simpl; auto|].
    exists (Rmin a (k x)). split; [apply Rmin_glb_lt; auto; apply Q; simpl; auto|]. intros y [->|I]; [apply Rmin_r|].
    apply Rle_trans with a; [apply Rmin_l|auto]. }
  assert (high : forall l : list token, exists a, forall x, In x l -> k x <= a).
  { induction l as [|x l [a L]]; [exists 0; intros ? []|]. exists (Rmax a (k x)). intros y [->|I]; [apply Rmax_r|].
    apply Rle_trans with a; [auto|apply Rmax_l]. }
  assert (T : over X d = 0).
  { rewrite E, over_app in S, Z.
    assert (SX : StronglySorted (fun x y => k y <= k x) X /\ StronglySorted (fun x y => k y <= k x) Y).
    { rewrite E in G. clear - G. induction X as [|x X IH]; [split; auto; constructor|]. inversion G as [|? ? G' F]; subst.
      destruct (IH G') as [U W]. split; auto. constructor; auto. rewrite Forall_forall in *. intros y I.
      apply F, in_or_app. auto. }
    destruct (pos X A) as [a [a0 aX]]. destruct (high X) as [b bX]. destruct (low Y) as [c cY].
    assert (LX : a * (0 + over X d) - Rmax a b * 0 <= over X (fun x => k x * d x)).
    { apply abel; [lra|apply Rmax_l| |apply SX|].
      - intros x I. split; auto. apply Rle_trans with b; [auto|apply Rmax_r].
      - intros A' B' E'. rewrite Rplus_0_l. apply (P A' (B' ++ Y)). rewrite E, E', app_assoc. auto. }
    assert (LY : Rmin c 0 * (over X d + over Y d) - 0 * over X d <= over Y (fun x => k x * d x)).
    { apply abel; [apply (P X Y E)|apply Rmin_r| |apply SX|].
      - intros y I. split; auto. apply Rle_trans with c; [apply Rmin_l|auto].
      - intros A' B' E'. rewrite <- over_app. apply (P (X ++ A') B'). rewrite E, E', app_assoc. auto. }
    pose proof (P X Y E). rewrite Z in LY. assert (a * over X d <= 0) by lra. nra. }
  unfold proved_best. apply negb_true_iff, less_false.
  apply Rle_trans with (over drawable t + over X (fun x => led_in o x - t x)).
  - apply least_le, bounds_in. exists X, Y. split; auto.
  - rewrite kept_over, over_sub. rewrite <- (over_perm o drawable) by apply order.
    pose proof (fun f => eq_trans (f_equal (fun l => over l f) E) (over_app X Y f)) as Q. rewrite !Q.
    rewrite (over_ext X (fun x => Rmin (t x) (had x)) had), (over_ext Y (fun x => Rmin (t x) (had x)) t).
    + unfold d in T. rewrite over_sub in T. lra.
    + intros y I. apply Rmin_left. specialize (B y I). unfold k in B.
      assert (0 < pi y) by (apply (drawable_in V Rs), (Permutation_in _ order); rewrite E; apply in_or_app; auto).
      apply Rnot_lt_le. intros C. assert (0 < (t y - had y) / pi y) by (apply Rdiv_lt_0_compat; lra). lra.
    + intros y I. apply Rmin_right. specialize (A y I). unfold k in A.
      assert (0 < pi y) by (apply (drawable_in V Rs), (Permutation_in _ order); rewrite E; apply in_or_app; auto).
      apply Rnot_lt_le. intros C. assert (0 < (had y - t y) / pi y) by (apply Rdiv_lt_0_compat; lra).
      replace ((had y - t y) / pi y) with (- ((t y - had y) / pi y)) in * by (field; lra). lra.
Qed.
End Test.

End Downhill.
