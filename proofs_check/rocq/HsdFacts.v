(** The finite sums of zhou2026hsd: Theorems 1, 2 and 4, Corollary 3, Lemmas 2, 5 to 8, 10 and 11. *)

Require Import Reals Lra Lia List Arith.
Require Import Programs Numbers Means Lossless Traversal RecursiveRejection Chains BlockOptimal Texts Hsd.
Import ListNotations RealPrograms.
Open Scope R_scope.

(** ** Sets of words *)

Definition sum {A} (l : list A) (f : A -> R) : R := fold_right (fun x rest => f x + rest) 0 l.

(** D(f, g): what f has more than g. *)
Definition more {A} (l : list A) (f g : A -> R) : R := sum l (fun x => positive (f x - g x)).

Lemma sum_ext : forall A (l : list A) f g, (forall x, In x l -> f x = g x) -> sum l f = sum l g.
Proof. intros A l f g. induction l as [|x l IH]; simpl; intros H; auto. rewrite (H x), IH; auto. Qed.

Lemma sum_add : forall A (l : list A) f g, sum l (fun x => f x + g x) = sum l f + sum l g.
Proof. intros A l f g. induction l; simpl; lra. Qed.

Lemma sum_mul : forall A (l : list A) a f, sum l (fun x => a * f x) = a * sum l f.
Proof. intros A l a f. induction l; simpl; lra. Qed.

Lemma sum_nonneg : forall A (l : list A) f, (forall x, In x l -> 0 <= f x) -> 0 <= sum l f.
Proof.
  intros A l f. induction l as [|x l IH]; simpl; intros H; [lra|]. pose proof (H x (or_introl eq_refl)).
  assert (0 <= sum l f) by (apply IH; auto). lra.
Qed.

Lemma sum_zero : forall A (l : list A) f, (forall x, In x l -> 0 <= f x) -> sum l f <= 0 -> forall x, In x l -> f x = 0.
Proof.
  intros A l f. induction l as [|y l IH]; simpl; intros H T x I; [contradiction|].
  pose proof (H y (or_introl eq_refl)). assert (0 <= sum l f) by (apply sum_nonneg; auto).
  destruct I as [<-|I]; [lra|]. apply IH; auto. lra.
Qed.

Lemma positive_nonneg : forall a, 0 <= positive a.
Proof. intros. unfold positive. simpl. destruct (Rlt_dec 0 a); lra. Qed.

Lemma positive_difference : forall a b, positive (a - b) - positive (b - a) = a - b.
Proof. intros. rewrite !positive_min, (Rmin_comm b a). lra. Qed.

Lemma positive_absolute : forall a b, positive (a - b) + positive (b - a) = Rabs (a - b).
Proof.
  intros. rewrite !positive_min, (Rmin_comm b a). unfold Rmin, Rabs.
  destruct (Rle_dec a b), (Rcase_abs (a - b)); lra.
Qed.

Lemma more_nonneg : forall A (l : list A) f g, 0 <= more l f g.
Proof. intros. apply sum_nonneg. intros. apply positive_nonneg. Qed.

Lemma more_difference : forall A (l : list A) f g, more l f g - more l g f = sum l f - sum l g.
Proof.
  intros. unfold more. induction l as [|x l IH]; simpl; [lra|]. pose proof (positive_difference (f x) (g x)). simpl in *. lra.
Qed.

(** The words of the set are kept with min(1, p/q); what is rejected is drawn again within the set, by [r]. *)
Definition recovers {A} (l : list A) (p q r : A -> R) : Prop :=
  (forall x, In x l -> 0 <= r x) /\ sum l r <= 1 /\
  forall x, In x l -> q x * share (p x) (q x) + sum l (fun y => q y * (1 - share (p y) (q y))) * r x = p x.

(** Theorem 1. *)
Theorem set_recovered : forall A (l : list A) p q, (forall x, 0 <= p x) -> (forall x, 0 <= q x) ->
  (exists r, recovers l p q r) <-> more l p q <= more l q p.
Proof.
  intros A l p q P Q.
  assert (K : sum l (fun y => q y * (1 - share (p y) (q y))) = more l q p).
  { apply sum_ext. intros x _. rewrite positive_min, Rmin_comm, <- share_mass by auto. ring. }
  assert (M : forall x, q x * share (p x) (q x) + positive (p x - q x) = p x).
  { intros x. rewrite positive_min, share_mass by auto. ring. }
  pose proof (more_nonneg A l q p) as N. unfold recovers. rewrite K. split.
  - intros [r [R [S E]]].
    assert (F : more l p q = more l q p * sum l r).
    { rewrite <- sum_mul. apply sum_ext. intros x I. pose proof (E x I). pose proof (M x). simpl in *. lra. }
    rewrite F, <- (Rmult_1_r (more l q p)) at 1. rewrite Rmult_1_r. rewrite <- (Rmult_1_r (more l q p)) at 2.
    apply Rmult_le_compat_l; auto.
  - intros L. destruct (Rle_lt_or_eq_dec _ _ N) as [D|Z].
    + exists (fun x => / more l q p * positive (p x - q x)). repeat split.
      * intros x _. apply Rmult_le_pos; [left; apply Rinv_0_lt_compat; auto|apply positive_nonneg].
      * rewrite (sum_mul A l (/ more l q p)). fold (more l p q). apply Rmult_le_reg_l with (more l q p); auto.
        rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l, Rmult_1_r by lra. auto.
      * intros x _. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra. apply M.
    + exists (fun _ => 0). repeat split.
      * intros; lra.
      * rewrite (sum_ext A l _ (fun x => 0 * 0)) by (intros; lra). rewrite (sum_mul A l 0). lra.
      * intros x I. pose proof (M x) as Mx. rewrite (sum_zero A l (fun x => positive (p x - q x))) in Mx; auto; [lra| |].
        -- intros. apply positive_nonneg.
        -- unfold more in L at 1. rewrite <- Z in L. exact L.
Qed.

(** ** Branches *)

Section Branches.
Variable V : nat.
Variables p q : context -> row.
Hypothesis p_rows : forall c, is_row V (p c).
Hypothesis q_rows : forall c, is_row V (q c).
Notation total := (total V).

(** All words of [n] tokens. *)
Fixpoint every (n : nat) : list (list token) :=
  match n with O => [[]] | S n => flat_map (fun x => map (cons x) (every n)) (vocabulary V) end.

Lemma sum_app : forall A (l k : list A) f, sum (l ++ k) f = sum l f + sum k f.
Proof. intros A l k f. induction l; simpl; lra. Qed.

Lemma sum_every : forall n f, sum (every (S n)) f = total (fun x => sum (every n) (fun u => f (x :: u))).
Proof.
  intros n f. simpl. unfold RealPrograms.total. induction (vocabulary V) as [|x l IH]; simpl; auto.
  rewrite sum_app, IH. f_equal. clear. unfold sum. induction (every n) as [|u k IH]; cbn [map fold_right]; [reflexivity|].
  rewrite IH. reflexivity.
Qed.

Lemma sum_joint : forall rows, (forall c, is_row V (rows c)) -> forall n c, sum (every n) (fun u => joint rows u c) = 1.
Proof.
  intros rows H. induction n as [|n IH]; intros c; [simpl; lra|]. rewrite sum_every. destruct (H c) as [_ S].
  rewrite <- S. apply total_ext. intros x. simpl. rewrite (sum_mul _ (every n)), IH. lra.
Qed.

(** The branch of a prefix: its words of [n] tokens more.  The prefix ends at [c] and has the probabilities P and Q. *)
Definition branch (rows : context -> row) (c : context) (mass : R) (u : list token) : R := mass * joint rows u c.

Definition asymmetry (n : nat) (c : context) (P Q : R) : R :=
  more (every n) (branch p c P) (branch q c Q) - more (every n) (branch q c Q) (branch p c P).

(** Theorem 2. *)
Theorem branch_asymmetry : forall n c P Q, asymmetry n c P Q = P - Q.
Proof.
  intros. unfold asymmetry. rewrite more_difference. unfold branch. rewrite !sum_mul, !sum_joint by auto. lra.
Qed.

(** Corollary 3. *)
Theorem branch_recovered : forall n c P Q, 0 <= P -> 0 <= Q ->
  (exists r, recovers (every n) (branch p c P) (branch q c Q) r) <-> P <= Q.
Proof.
  assert (N : forall rows, (forall c, is_row V (rows c)) -> forall u c, 0 <= joint rows u c).
  { intros rows H. induction u as [|x u IH]; intros c; simpl; [lra|]. apply Rmult_le_pos; auto. apply H. }
  intros n c P Q HP HQ. rewrite set_recovered.
  - pose proof (branch_asymmetry n c P Q) as E. unfold asymmetry in E. split; intros; lra.
  - intros u. apply Rmult_le_pos; auto.
  - intros u. apply Rmult_le_pos; auto.
Qed.

(** Section A.1 and Lemma 2. *)
Theorem total_divergence : forall n c,
  more (every n) (branch p c 1) (branch q c 1) = more (every n) (branch q c 1) (branch p c 1) /\
  more (every n) (branch p c 1) (branch q c 1) = / 2 * sum (every n) (fun u => Rabs (branch p c 1 u - branch q c 1 u)).
Proof.
  intros n c. pose proof (branch_asymmetry n c 1 1) as E. unfold asymmetry in E. split; [lra|].
  rewrite (sum_ext _ _ _ (fun u => positive (branch p c 1 u - branch q c 1 u) + positive (branch q c 1 u - branch p c 1 u)))
    by (intros; symmetry; apply positive_absolute).
  rewrite sum_add. unfold more in *. lra.
Qed.

(** Theorem 4. *)
Theorem child_asymmetries : forall n c P Q,
  total (fun x => positive (asymmetry n (c ++ [x]) (P * p c x) (Q * q c x))) = more (every 1) (branch p c P) (branch q c Q) /\
  total (fun x => positive (- asymmetry n (c ++ [x]) (P * p c x) (Q * q c x))) = more (every 1) (branch q c Q) (branch p c P).
Proof.
  intros n c P Q. unfold more. rewrite !sum_every. split; apply total_ext; intros x; rewrite branch_asymmetry; unfold branch; simpl;
    rewrite !Rmult_1_r, Rplus_0_r; auto. f_equal. ring.
Qed.

End Branches.

(** ** Peaks of the joint ratio *)

Section Peaks.
Variables a b : nat -> R.  (** what the target and the proposal give the drafted token of each place *)
Hypothesis a_nonneg : forall t, 0 <= a t.
Hypothesis b_positive : forall t, 0 < b t.

(** The product of the [k] factors from place [m] on. *)
Fixpoint prod (f : nat -> R) (m k : nat) : R := match k with O => 1 | S k => prod f m k * f (m + k)%nat end.

(** The joint ratio of the first [t] tokens, the largest before, and the capped ratio r*. *)
Definition J (t : nat) : R := prod a 0 t / prod b 0 t.
Fixpoint largest (t : nat) : R := match t with O => 1 | S t => Rmax (largest t) (J t) end.
Definition star (t : nat) : R := J t / largest t.
Definition peak (t : nat) : Prop := largest t < J t.

Lemma prod_nonneg : forall m k, 0 <= prod a m k.
Proof. intros m. induction k; simpl; [lra|]. apply Rmult_le_pos; auto. Qed.

Lemma prod_positive : forall m k, 0 < prod b m k.
Proof. intros m. induction k; simpl; [lra|]. apply Rmult_lt_0_compat; auto. Qed.

Lemma prod_app : forall f m k n, prod f m (k + n) = prod f m k * prod f (m + k) n.
Proof.
  intros f m k. induction n as [|n IH]; simpl; [rewrite Nat.add_0_r; lra|].
  rewrite Nat.add_succ_r. simpl. rewrite IH, Nat.add_assoc. ring.
Qed.

Lemma largest_one : forall t, 1 <= largest t.
Proof. induction t; simpl; [lra|]. apply Rle_trans with (1 := IHt), Rmax_l. Qed.

Lemma star_above : forall t, 1 < star t <-> peak t.
Proof.
  intros t. pose proof (largest_one t). assert (E : star t * largest t = J t) by (unfold star; field; lra). unfold peak. split; intros L.
  - rewrite <- E. rewrite <- (Rmult_1_l (largest t)) at 1. apply Rmult_lt_compat_r; lra.
  - apply Rmult_lt_reg_r with (largest t); lra.
Qed.

(** HSD's rate is the capped ratio, at most 1. *)
Theorem rate_is_capped : forall t, J t / largest (S t) = Rmin 1 (star t).
Proof.
  intros t. pose proof (largest_one t). pose proof (star_above t) as S. unfold peak in S. simpl. unfold Rmax, Rmin.
  destruct (Rle_dec (largest t) (J t)), (Rle_dec 1 (star t)); auto.
  - field. lra.
  - assert (largest t = J t) by (destruct S; lra). unfold star in *. replace (J t / largest t) with 1 in n by (field_simplify_eq; lra). lra.
  - assert (E : star t * largest t = J t) by (unfold star; field; lra).
    assert (1 * largest t <= star t * largest t) by (apply Rmult_le_compat_r; lra). lra.
Qed.

Definition neighbours (m n : nat) : Prop := (m < n)%nat /\ peak m /\ peak n /\ forall t, (m < t < n)%nat -> ~ peak t.

(** Lemma 5. *)
Theorem capped_between : forall m n t, neighbours m n -> (m < t < n)%nat -> star t <= 1.
Proof. intros m n t [_ [_ [_ F]]] B. apply Rnot_lt_le. rewrite star_above. auto. Qed.

(** The largest ratio so far stays what it was at the last peak. *)
Lemma largest_since : forall m v, largest (S m) = v -> forall k, (forall t, (m < t < S m + k)%nat -> ~ peak t) -> largest (S m + k) = v.
Proof.
  intros m v E. induction k as [|k IH]; intros F; [rewrite Nat.add_0_r; auto|]. rewrite Nat.add_succ_r. cbn [largest].
  rewrite IH by (intros; apply F; lia). apply Rmax_left. pose proof (F (S m + k)%nat ltac:(lia)) as N. unfold peak in N.
  rewrite IH in N by (intros; apply F; lia). lra.
Qed.

(** Lemma 6; the empty word counts as the peak before the first one. *)
Theorem capped_at_peaks : forall m n, neighbours m n -> star n = J n / J m /\ 1 < star n.
Proof.
  intros m n [L [Pm [Pn F]]]. split; [|apply star_above; auto]. unfold star. f_equal.
  replace n with (S m + (n - S m))%nat by lia. apply largest_since; [|intros; apply F; lia].
  simpl. apply Rmax_right. unfold peak in Pm. lra.
Qed.

Lemma J_zero : J 0 = 1.
Proof. unfold J. simpl. field. Qed.

Theorem capped_at_first_peak : forall n, (0 < n)%nat -> peak n -> (forall t, (0 < t < n)%nat -> ~ peak t) -> star n = J n / J 0 /\ 1 < star n.
Proof.
  intros n L P F. split; [|apply star_above; auto]. unfold star. f_equal.
  replace n with (1 + (n - 1))%nat by lia. apply (largest_since 0); [|intros; apply F; lia].
  simpl. rewrite J_zero. apply Rmax_left. lra.
Qed.

(** The hybrid probability of the first [t] tokens: the proposal's up to [m], the target's beyond. *)
Definition hybrid (m t : nat) : R := prod b 0 m * prod a m (t - m).

(** What is drawn again at [m], with the target's tokens after it up to [t]. *)
Definition again (m t : nat) : R := positive (star m - 1) * prod b 0 m * prod a m (t - m).

Lemma J_hybrid : forall m n t, (m <= n)%nat -> (n <= t)%nat -> 0 < J m ->
  J n / J m * prod b 0 n * prod a n (t - n) = hybrid m t.
Proof.
  intros m n t M N P. pose proof (prod_positive 0 m). pose proof (prod_positive 0 n). pose proof (prod_nonneg 0 m).
  assert (A : prod a 0 m <> 0) by (intros Z; unfold J in P; rewrite Z in P; unfold Rdiv in P; rewrite Rmult_0_l in P; lra).
  unfold hybrid. replace (t - m)%nat with ((n - m) + (t - n))%nat by lia. rewrite prod_app.
  replace (m + (n - m))%nat with n by lia. unfold J. replace (prod a 0 n) with (prod a 0 m * prod a m (n - m)).
  - field. lra.
  - pose proof (prod_app a 0 m (n - m)) as X. replace (m + (n - m))%nat with n in X by lia. symmetry. exact X.
Qed.

(** Lemma 8, from one peak to the next. *)
Theorem telescoping_step : forall m n t, neighbours m n -> (n <= t)%nat -> again n t = hybrid m t - hybrid n t.
Proof.
  intros m n t N L. destruct (capped_at_peaks m n N) as [E S]. destruct N as [M [P _]].
  assert (0 < J m) by (unfold peak in P; pose proof (largest_one m); lra).
  rewrite <- (J_hybrid m n t) by (auto; lia). unfold again, hybrid, positive. simpl.
  destruct (Rlt_dec 0 (star n - 1)); [|lra]. rewrite E. ring.
Qed.

(** The last peak so far, or the empty word. *)
Fixpoint last_peak (t : nat) : nat :=
  match t with O => O | S t => if Rlt_dec (largest (S t)) (J (S t)) then S t else last_peak t end.

Lemma last_below : forall t, (last_peak t <= t)%nat.
Proof. induction t; simpl; auto. destruct (Rlt_dec _ _); lia. Qed.

Lemma largest_last : forall t, largest (S t) = J (last_peak t).
Proof.
  induction t as [|t IH]; [simpl; rewrite J_zero; apply Rmax_left; lra|]. change (Rmax (largest (S t)) (J (S t)) = J (last_peak (S t))).
  cbn [last_peak]. destruct (Rlt_dec (largest (S t)) (J (S t))) as [L|L]; [apply Rmax_right; lra|].
  rewrite Rmax_left by lra. exact IH.
Qed.

(** Lemma 8, all together: after the last peak the proposal's law up to it is left. *)
Theorem telescoping : forall t, sum (seq 1 t) (fun m => again m t) = prod a 0 t - hybrid (last_peak t) t.
Proof.
  induction t as [|t IH]; [unfold hybrid; simpl; ring|].
  rewrite seq_S, sum_app. cbn [sum fold_right plus]. rewrite Rplus_0_r.
  assert (G : forall m, (m <= t)%nat -> hybrid m (S t) = a t * hybrid m t).
  { intros m M. unfold hybrid. replace (S t - m)%nat with (S (t - m)) by lia. simpl.
    replace (m + (t - m))%nat with t by lia. ring. }
  rewrite (sum_ext _ _ _ (fun m => a t * again m t)).
  2: { intros m I. apply in_seq in I. unfold again. replace (S t - m)%nat with (S (t - m)) by lia. simpl.
       replace (m + (t - m))%nat with t by lia. ring. }
  rewrite sum_mul, IH. simpl prod at 1. pose proof (last_below t) as B. pose proof (largest_last t) as E.
  pose proof (largest_one (S t)) as O.
  pose proof (J_hybrid (last_peak t) (S t) (S t) ltac:(lia) ltac:(lia) ltac:(lra)) as H. rewrite G in H by auto.
  rewrite <- E in H. fold (star (S t)) in H.
  unfold again, positive. change (Real.less Real.zero (Real.sub (star (S t)) Real.one)) with (if Rlt_dec 0 (star (S t) - 1) then true else false).
  pose proof (star_above (S t)) as K. unfold peak in K.
  assert (X : prod a 0 (S t) = prod a 0 t * a t) by reflexivity.
  cbn [last_peak]. destruct (Rlt_dec (largest (S t)) (J (S t))) as [L|L].
  - destruct (Rlt_dec 0 (star (S t) - 1)) as [M|M]; [|destruct K; lra]. unfold hybrid at 2.
    replace (hybrid (S t) (S t)) with (prod b 0 (S t)) by (unfold hybrid; rewrite Nat.sub_diag; simpl; ring).
    change (Real.sub (star (S t)) Real.one) with (star (S t) - 1). rewrite Nat.sub_diag in *. cbn [prod] in *. simpl plus in *. lra.
  - destruct (Rlt_dec 0 (star (S t) - 1)) as [M|M]; [destruct K; lra|]. rewrite G by auto. change Real.zero with 0. cbn [prod]. simpl plus. ring.
Qed.

(** Lemma 11: block verification's w, from the ratios of the tokens. *)
Fixpoint w (t : nat) : R := match t with O => 1 | S t => share (w t * a t) (b t) end.

Theorem least_suffix_product : forall t,
  (forall m, (m <= t)%nat -> w t <= prod (fun i => a i / b i) m (t - m)) /\
  exists m, (m <= t)%nat /\ w t = prod (fun i => a i / b i) m (t - m).
Proof.
  induction t as [|t [L [m [M E]]]].
  - split; [intros m M; replace m with 0%nat by lia; simpl; lra|]. exists 0%nat. split; auto.
  - assert (G : forall m, (m <= t)%nat -> prod (fun i => a i / b i) m (S t - m) = prod (fun i => a i / b i) m (t - m) * (a t / b t)).
    { intros k K. replace (S t - k)%nat with (S (t - k)) by lia. simpl. replace (k + (t - k))%nat with t by lia. auto. }
    assert (D : w (S t) = Rmin 1 (w t * (a t / b t))).
    { cbn [w]. rewrite share_ratio by auto. f_equal. unfold Rdiv. ring. }
    assert (R : 0 <= a t / b t) by (apply Rmult_le_pos; auto; left; apply Rinv_0_lt_compat; auto).
    rewrite D. split.
    + intros k K. destruct (Nat.eq_dec k (S t)) as [->|N]; [rewrite Nat.sub_diag; simpl; apply Rmin_l|].
      rewrite G by lia. apply Rle_trans with (1 := Rmin_r _ _), Rmult_le_compat_r; auto. apply L. lia.
    + unfold Rmin. destruct (Rle_dec 1 (w t * (a t / b t))).
      * exists (S t). rewrite Nat.sub_diag. simpl. auto.
      * exists m. split; [lia|]. rewrite G by auto. rewrite E. auto.
Qed.

End Peaks.

Lemma sum_const : forall A (l : list A) v, sum l (fun _ => v) = INR (length l) * v.
Proof.
  intros A l v. induction l as [|x l IH]; [simpl; ring|]. change (v + sum l (fun _ => v) = INR (S (length l)) * v).
  rewrite IH, S_INR. ring.
Qed.

(** Lemma 10: a quantity that is k a with probability m(k), for k = 0 .. n. *)
Theorem tail_sum : forall (m : nat -> R) a n,
  sum (seq 0 (S n)) (fun k => m k * (INR k * a)) = a * sum (seq 1 n) (fun i => sum (seq i (S n - i)) m).
Proof.
  intros m a. induction n as [|n IH]; [simpl; ring|].
  rewrite seq_S, sum_app, IH, (seq_S n 1), sum_app.
  rewrite (sum_ext _ (seq 1 n) (fun i => sum (seq i (S (S n) - i)) m) (fun i => sum (seq i (S n - i)) m + m (S n))).
  - rewrite sum_add, sum_const, seq_length.
    change (sum [(1 + n)%nat] (fun i => sum (seq i (S (S n) - i)) m)) with (sum (seq (S n) (S (S n) - (1 + n))) m + 0).
    replace (S (S n) - (1 + n))%nat with 1%nat by lia. change (sum (seq (S n) 1) m) with (m (S n) + 0).
    change (sum [(0 + S n)%nat] (fun k => m k * (INR k * a))) with (m (S n) * (INR (S n) * a) + 0). rewrite S_INR. ring.
  - intros i I. apply in_seq in I. replace (S (S n) - i)%nat with (S (S n - i)) by lia. rewrite seq_S, sum_app.
    replace (i + (S n - i))%nat with (S n) by lia. change (sum [S n] m) with (m (S n) + 0). ring.
Qed.
