(** The priority rule (docs/near-optimal.md) is a valid single-step rule, so its lift to trees is lossless.

    Siblings are drawn independently, each from a row of its own.  Given the drawn tokens, the chance that none was
    kept so far is a product of one factor a sibling, which depends on that sibling's token alone; so each token is
    kept with the mass that the plan says.  This holds for every order of the tokens. *)

Require Import Reals Lra Lia List Arith Permutation.
Require Import Programs Numbers Means Lossless Lift.
Import ListNotations RealPrograms.
Open Scope R_scope.

Section Priority.
Variable V : nat.
Notation total := (total V).
Notation mean := (mean V).

(** ** What one draw is worth *)

(** What the tokens that are kept are worth, if token x is worth g(x) and nothing was kept before. *)
Fixpoint worth_at (g : token -> R) (x : token) (rates : list R) (drawn : list token) : R :=
  match rates, drawn with
  | rate :: rates, y :: drawn =>
      if (x =? y)%nat then rate * g x + (1 - rate) * worth_at g x rates drawn else worth_at g x rates drawn
  | _, _ => 0
  end.

(** The chance that none is kept. *)
Fixpoint none_at (x : token) (rates : list R) (drawn : list token) : R :=
  match rates, drawn with
  | rate :: rates, y :: drawn => (if (x =? y)%nat then 1 - rate else 1) * none_at x rates drawn
  | _, _ => 1
  end.

Fixpoint worth (g : token -> R) (planned : list (token * list R)) (drawn : list token) : R :=
  match planned with
  | [] => 0
  | (x, rates) :: planned => worth_at g x rates drawn + none_at x rates drawn * worth g planned drawn
  end.

(** The chance that no sibling was kept so far: a factor a sibling. *)
Fixpoint survival (factors : list row) (drawn : list token) : R :=
  match factors, drawn with s :: factors, y :: drawn => s y * survival factors drawn | _, _ => 1 end.

Fixpoint judged (x : token) (rates : list R) (factors : list row) : list row :=
  match rates, factors with
  | rate :: rates, s :: factors => (fun y => s y * (if (x =? y)%nat then 1 - rate else 1)) :: judged x rates factors
  | _, _ => []
  end.

(** Each sibling's row, its factor, which is still 1 for the tokens to come, and its chance not to be kept. *)
Inductive sound (coming : token -> Prop) : list row -> list row -> list R -> Prop :=
| sound_nil : sound coming [] [] []
| sound_cons : forall R s u laws factors unkept, is_row V R -> (forall y, 0 <= s y) ->
    (forall y, coming y -> s y = 1) -> u = total (fun y => R y * s y) -> sound coming laws factors unkept ->
    sound coming (R :: laws) (s :: factors) (u :: unkept).

Lemma sound_weaken : forall (coming coming' : token -> Prop) laws factors unkept, sound coming laws factors unkept ->
  (forall y, coming' y -> coming y) -> sound coming' laws factors unkept.
Proof.
  intros coming coming' laws factors unkept H W. induction H; [apply sound_nil|]. apply sound_cons; auto.
Qed.

Lemma sound_nonneg : forall coming R s, is_row V R -> (forall y, 0 <= s y) -> (forall y : token, coming y -> s y = 1) ->
  0 <= total (fun y => R y * s y).
Proof. intros coming R s [N _] S _. apply total_nonneg. intros. apply Rmult_le_pos; auto. Qed.

Lemma product_nonneg : forall coming laws factors unkept, sound coming laws factors unkept -> 0 <= product unkept.
Proof.
  induction 1 as [|R s u laws factors unkept N S C U H IH]; simpl; [lra|]. apply Rmult_le_pos; auto.
  subst. apply (sound_nonneg coming); auto.
Qed.

Lemma mean_survival : forall coming laws factors unkept, sound coming laws factors unkept ->
  mean (draw_each laws) (survival factors) = product unkept.
Proof.
  induction 1 as [|R s u laws factors unkept N S C U H IH]; simpl; auto. subst. rewrite <- total_mul_right.
  apply total_ext. intros y. rewrite mean_bind. simpl. rewrite mean_mul, IH. ring.
Qed.

(** ** One token of the plan *)

Lemma minimum_Rmin : forall a b, minimum a b = Rmin a b.
Proof. intros. unfold minimum, Rmin. simpl. destruct (Rlt_dec b a), (Rle_dec a b); lra. Qed.

Definition probabilities (rates : list R) : Prop := forall rate, In rate rates -> 0 <= rate <= 1.

Lemma plan_token_sound : forall coming laws factors unkept, sound coming laws factors unkept ->
  forall x earlier left g, coming x -> In x (vocabulary V) -> 0 <= earlier -> 0 <= left ->
  let '(rates, after, rest) := plan_token x laws unkept earlier left in
  probabilities rates /\ length rates = length laws /\ 0 <= rest <= left /\
  sound (fun y => coming y /\ y <> x) laws (judged x rates factors) after /\
  earlier * mean (draw_each laws) (fun drawn => survival factors drawn * worth_at g x rates drawn) = (left - rest) * g x.
Proof.
  induction 1 as [|R s u laws factors unkept N S C U H IH]; intros x earlier left g X I E L; simpl.
  - split; [intros r []|]. split; [auto|]. split; [lra|]. split; [apply sound_nil|ring].
  - set (most := R x * (earlier * product unkept)). set (mass := minimum left most). set (rate := share mass most).
    assert (N' : 0 <= R x) by apply N. pose proof (product_nonneg _ _ _ _ H) as P.
    assert (M : 0 <= most) by (unfold most; apply Rmult_le_pos; auto; apply Rmult_le_pos; auto).
    assert (B : 0 <= mass /\ mass <= left /\ mass <= most).
    { unfold mass. rewrite minimum_Rmin. unfold Rmin. destruct (Rle_dec left most); lra. }
    assert (T : most * rate = mass) by (apply share_of_whole; lra).
    assert (Q : 0 <= rate <= 1) by (apply share_bounds; lra).
    set (s' := fun y : token => s y * (if (x =? y)%nat then 1 - rate else 1)).
    assert (S' : forall y, 0 <= s' y) by (intros y; unfold s'; apply Rmult_le_pos; auto; destruct (x =? y)%nat; lra).
    assert (U' : u - R x * rate = total (fun y => R y * s' y)).
    { subst u. replace (R x * rate) with (R x * s x * rate) by (rewrite (C x X); ring).
      rewrite <- (total_single V (fun y => R y * s y) x rate I), <- total_sub. apply total_ext. intros y.
      unfold s'. destruct (x =? y)%nat; ring. }
    assert (E' : 0 <= earlier * (u - R x * rate)).
    { apply Rmult_le_pos; auto. rewrite U'. apply total_nonneg. intros. apply Rmult_le_pos; auto. apply N. }
    specialize (IH x (earlier * (u - R x * rate)) (left - mass) g X I E').
    destruct (plan_token x laws unkept (earlier * (u - R x * rate)) (left - mass)) as [[rates after] rest].
    destruct IH as [A1 [A2 [A3 [A4 A5]]]]; [lra|].
    cbn beta iota. split; [intros r [<-|J]; [auto|apply (A1 r J)]|]. split; [simpl; congruence|]. split; [lra|]. split.
    + simpl. apply sound_cons; auto. intros y [Y D]. unfold s'. rewrite (C y Y).
      destruct (Nat.eqb_spec x y); [congruence|ring].
    + (* the first sibling's token is x, or it is not; the others are judged afterwards *)
      set (W := mean (draw_each laws) (fun drawn => survival factors drawn * worth_at g x rates drawn)) in *.
      assert (K : forall y, mean (bind (draw_each laws) (fun drawn => Return (y :: drawn))) (fun drawn =>
                    survival (s :: factors) drawn * worth_at g x (rate :: rates) drawn) =
                  s y * (if (x =? y)%nat then rate * g x * product unkept else 0) + s' y * W).
      { intros y. rewrite mean_bind, <- (mean_survival _ _ _ _ H). unfold W, s'.
        rewrite (mean_ext V _ _ _ (fun drawn => s y * (if (x =? y)%nat then rate * g x else 0) * survival factors drawn +
          s y * (if (x =? y)%nat then 1 - rate else 1) * (survival factors drawn * worth_at g x rates drawn))).
        - rewrite mean_add, !mean_mul. destruct (x =? y)%nat; ring.
        - intros drawn. simpl. destruct (x =? y)%nat; ring. }
      simpl in K.
      rewrite (total_ext V _ (fun y => R y * s y * (if (x =? y)%nat then rate * g x * product unkept else 0) + R y * s' y * W))
        by (intros y; rewrite K; ring).
      rewrite total_add, total_mul_right, <- U', (total_single V (fun y => R y * s y) x _ I), (C x X).
      replace (earlier * (R x * 1 * (rate * g x * product unkept) + (u - R x * rate) * W))
        with (most * rate * g x + earlier * (u - R x * rate) * W) by (unfold most; ring).
      rewrite T, A5. ring.
Qed.

Lemma judged_survival : forall x rates factors drawn, length rates = length factors -> length drawn = length factors ->
  survival (judged x rates factors) drawn = survival factors drawn * none_at x rates drawn.
Proof.
  induction rates as [|rate rates IH]; intros [|s factors] [|y drawn] L K; simpl in *; try discriminate; try ring.
  rewrite IH by lia. ring.
Qed.

Lemma sound_length : forall coming laws factors unkept, sound coming laws factors unkept -> length factors = length laws.
Proof. induction 1; simpl; congruence. Qed.

Lemma sound_rows : forall coming laws factors unkept, sound coming laws factors unkept -> Forall (is_row V) laws.
Proof. induction 1; auto. Qed.

Lemma draw_each_proper : forall laws, Forall (is_row V) laws ->
  proper V (draw_each laws) (fun drawn => length drawn = length laws /\ forall x, In x drawn -> In x (vocabulary V)).
Proof.
  induction 1 as [|R laws N F IH]; simpl; [split; auto; intros x []|]. split; auto. intros x I _.
  apply (proper_bind V _ _ _ _ _ _ IH). intros drawn [L K]. simpl. split; auto. intros y [<-|J]; auto.
Qed.

(** ** The whole plan *)

Lemma plan_sound : forall order laws factors unkept left g, NoDup order ->
  (forall x, In x order -> In x (vocabulary V)) -> sound (fun y => In y order) laws factors unkept ->
  (forall y, 0 <= left y) ->
  let '(planned, rest) := plan order laws unkept left in
  (forall x rates, In (x, rates) planned -> probabilities rates) /\ (forall y, 0 <= rest y) /\
  mean (draw_each laws) (fun drawn => survival factors drawn * worth g planned drawn) =
    total (fun y => (left y - rest y) * g y).
Proof.
  induction order as [|x order IH]; intros laws factors unkept left g N I S L; simpl.
  - split; [intros x rates []|]. split; auto.
    rewrite (mean_ext V _ _ _ (fun drawn => 0 * survival factors drawn)) by (intros; ring).
    rewrite (total_ext V _ (fun y => 0 * 0)) by (intros; ring). rewrite mean_mul, total_mul. ring.
  - inversion N as [|? ? F N']; subst.
    pose proof (plan_token_sound _ _ _ _ S x 1 (left x) g (or_introl eq_refl) (I x (or_introl eq_refl))) as P.
    destruct (plan_token x laws unkept 1 (left x)) as [[rates after] left_x].
    destruct P as [P1 [P2 [P3 [P4 P5]]]]; [lra|apply L|].
    set (left' := fun y : token => if (y =? x)%nat then left_x else left y).
    assert (S' : sound (fun y => In y order) laws (judged x rates factors) after).
    { apply (sound_weaken _ _ _ _ _ P4). intros y J. split; [simpl; auto|]. intros ->. contradiction. }
    specialize (IH laws (judged x rates factors) after left' g N' (fun y J => I y (or_intror J)) S').
    destruct (plan order laws after left') as [planned rest]. destruct IH as [Q1 [Q2 Q3]].
    { intros y. unfold left'. destruct (y =? x)%nat; [lra|auto]. }
    split; [intros y r [E|J]; [injection E; intros; subst; auto|apply (Q1 y r J)]|]. split; auto. simpl.
    rewrite (mean_ext_proper V _ _ _ _ (fun drawn => survival factors drawn * worth_at g x rates drawn +
      survival (judged x rates factors) drawn * worth g planned drawn) (draw_each_proper laws (sound_rows _ _ _ _ S))).
    + rewrite mean_add, Q3. rewrite Rmult_1_l in P5. rewrite P5.
      rewrite <- (Rmult_1_r ((left x - left_x) * g x)).
      rewrite <- (total_single V (fun y => (left y - left_x) * g y) x 1 (I x (or_introl eq_refl))), <- total_add.
      apply total_ext. intros y. unfold left'. rewrite (Nat.eqb_sym x y). destruct (y =? x)%nat; ring.
    + intros drawn [D _]. pose proof (sound_length _ _ _ _ S). rewrite judged_survival by congruence. ring.
Qed.

(** ** The shares of the drawn tokens *)

Lemma given_added : forall x drawn a b, length a = length drawn -> length b = length drawn ->
  given x drawn (added a b) = given x drawn a + given x drawn b.
Proof.
  intros x. induction drawn as [|y drawn IH]; intros [|k a] [|l b] A B; simpl in *; try discriminate; [ring|].
  rewrite IH by lia. destruct (x =? y)%nat; simpl; ring.
Qed.

Lemma given_none : forall x drawn, given x drawn (map (fun _ => 0) drawn) = 0.
Proof. intros x. induction drawn as [|y drawn IH]; simpl; auto. rewrite IH. destruct (x =? y)%nat; ring. Qed.

Lemma added_length : forall a b, length a = length b -> length (added a b) = length a.
Proof. induction a as [|x a IH]; intros [|y b] L; simpl in *; try discriminate; auto. Qed.

Lemma sum_added : forall a b, length a = length b -> sum (added a b) = sum a + sum b.
Proof.
  induction a as [|x a IH]; intros [|y b] L; simpl in *; try discriminate; [ring|]. rewrite IH by lia. simpl. ring.
Qed.

Lemma sum_none : forall drawn : list token, sum (map (fun _ => 0) drawn) = 0.
Proof. induction drawn as [|y drawn IH]; simpl; auto. rewrite IH. ring. Qed.

(** Non-negative numbers, one for each drawn token. *)
Definition weights (drawn : list token) (ws : list R) : Prop := length ws = length drawn /\ forall w, In w ws -> 0 <= w.

Lemma weights_none : forall drawn, weights drawn (map (fun _ => 0) drawn).
Proof.
  intros. split; [apply map_length|]. intros w J. apply in_map_iff in J. destruct J as [y [<- _]]. lra.
Qed.

Lemma shares_at_worth : forall z x rates drawn w, probabilities rates -> 0 <= w ->
  let '(ws, after) := shares_at x rates drawn w in
  weights drawn ws /\ 0 <= after /\ sum ws = w - after /\ after = w * none_at x rates drawn /\
  given z drawn ws = w * worth_at (fun y => if (z =? y)%nat then 1 else 0) x rates drawn.
Proof.
  intros z x. induction rates as [|rate rates IH]; intros drawn w P W.
  - simpl. split; [apply weights_none|]. rewrite sum_none, given_none. repeat split; lra.
  - destruct drawn as [|y drawn]; simpl.
    + split; [apply weights_none|]. repeat split; lra.
    + assert (B : 0 <= rate <= 1) by (apply P; simpl; auto).
      set (kept := if (x =? y)%nat then w * rate else 0).
      assert (K : 0 <= kept <= w).
      { unfold kept. destruct (x =? y)%nat; [|lra]. split; [apply Rmult_le_pos; lra|].
        rewrite <- (Rmult_1_r w) at 2. apply Rmult_le_compat_l; lra. }
      specialize (IH drawn (w - kept) (fun r J => P r (or_intror J))).
      destruct (shares_at x rates drawn (w - kept)) as [ws left].
      destruct IH as [[I1 I2] [I3 [I4 [I5 I6]]]]; [lra|]. repeat split; auto; simpl.
      * congruence.
      * intros v [<-|J]; [lra|auto].
      * rewrite I4. ring.
      * rewrite I5. unfold kept. destruct (x =? y)%nat; ring.
      * rewrite I6. unfold kept. destruct (Nat.eqb_spec x y) as [->|D]; [|destruct (z =? y)%nat; ring].
        destruct (z =? y)%nat; ring.
Qed.

Lemma shares_worth : forall z drawn steps w, (forall x rates, In (x, rates) steps -> probabilities rates) -> 0 <= w ->
  weights drawn (shares steps drawn w) /\ sum (shares steps drawn w) <= w /\
  given z drawn (shares steps drawn w) = w * worth (fun y => if (z =? y)%nat then 1 else 0) steps drawn.
Proof.
  intros z drawn. induction steps as [|[x rates] steps IH]; intros w P W; simpl.
  - split; [apply weights_none|]. rewrite sum_none, given_none. split; lra.
  - pose proof (shares_at_worth z x rates drawn w (P x rates (or_introl eq_refl)) W) as S.
    destruct (shares_at x rates drawn w) as [ws left]. destruct S as [[S1 S2] [S3 [S4 [S5 S6]]]].
    destruct (IH left (fun y r J => P y r (or_intror J)) S3) as [[I1 I2] [I3 I4]].
    assert (L : length ws = length (shares steps drawn left)) by congruence.
    split; [split|].
    + rewrite added_length; auto.
    + clear - S2 I2 L. revert L I2. generalize (shares steps drawn left) as b.
      induction ws as [|v ws IHw]; intros [|b0 b] L I2; simpl in *; try discriminate; [intros ? []|].
      intros u [<-|J]; [pose proof (S2 v (or_introl eq_refl)); pose proof (I2 b0 (or_introl eq_refl)); lra|].
      apply (IHw (fun r K => S2 r (or_intror K)) b); auto.
    + rewrite sum_added, given_added, I4, S6 by (auto; congruence). split; [lra|]. rewrite S5. ring.
Qed.

(** ** The rule *)

(** The order in which tokens are judged: any without repetition. *)
Variable order : list row -> row -> list token.
Hypothesis order_once : forall Rs t, NoDup (order Rs t).
Hypothesis order_known : forall Rs t x, In x (order Rs t) -> In x (vocabulary V).

Lemma survival_start : forall Rs drawn, survival (map (fun _ : row => fun _ : token => 1) Rs) drawn = 1.
Proof. induction Rs as [|R Rs IH]; intros [|y drawn]; simpl; auto. rewrite IH. ring. Qed.

Lemma sound_start : forall coming Rs, Forall (is_row V) Rs ->
  sound coming Rs (map (fun _ : row => fun _ : token => 1) Rs) (map (fun _ => 1) Rs).
Proof.
  intros coming Rs. induction 1 as [|R Rs N F IH]; simpl; [apply sound_nil|]. apply sound_cons; auto.
  - intros; lra.
  - transitivity (total R); [symmetry; apply N|apply total_ext; intros; ring].
Qed.

Lemma planned_sound : forall laws t g, Forall (is_row V) laws -> (forall y, 0 <= t y) ->
  (forall x rates, In (x, rates) (fst (planned order laws t)) -> probabilities rates) /\
  (forall y, 0 <= snd (planned order laws t) y) /\
  mean (draw_each laws) (fun drawn => worth g (fst (planned order laws t)) drawn) =
    total (fun y => (t y - snd (planned order laws t) y) * g y).
Proof.
  intros laws t g F T.
  pose proof (plan_sound (order laws t) laws _ _ t g (order_once _ _) (order_known _ _) (sound_start _ _ F) T) as P.
  fold (planned order laws t) in P. destruct (planned order laws t) as [steps rest]. destruct P as [P1 [P2 P3]].
  simpl fst. simpl snd. split; [exact P1|]. split; [exact P2|]. etransitivity; [|exact P3].
  apply mean_ext. intros drawn. rewrite survival_start. ring.
Qed.

Theorem priority_valid : forall laws t x, Forall (is_row V) laws -> (forall y, 0 <= t y) -> In x (vocabulary V) ->
  mean (draw_each laws) (fun drawn => given x drawn (priority_masses order laws t drawn)) +
  snd (planned order laws t) x = t x.
Proof.
  intros laws t x F T I.
  destruct (planned_sound laws t (fun y => if (x =? y)%nat then 1 else 0) F T) as [P1 [P2 P3]].
  rewrite (mean_ext V _ _ _ (fun drawn =>
    worth (fun y => if (x =? y)%nat then 1 else 0) (fst (planned order laws t)) drawn)).
  - rewrite P3, (total_single V (fun y => t y - snd (planned order laws t) y) x 1 I). ring.
  - intros drawn. destruct (shares_worth x drawn (fst (planned order laws t)) 1 P1) as [_ [_ G]]; [lra|].
    unfold priority_masses. rewrite G. ring.
Qed.

End Priority.

(** ** The order of the rule *)

Lemma place_permutes : forall better x sorted, Permutation (x :: sorted) (place better x sorted).
Proof.
  intros better x. induction sorted as [|y more IH]; simpl; auto. destruct (better y x); auto.
  apply perm_trans with (y :: x :: more); [apply perm_swap|auto].
Qed.

Lemma by_ratio_once : forall V laws t, NoDup (by_ratio V laws t) /\ forall x, In x (by_ratio V laws t) -> In x (vocabulary V).
Proof.
  intros V laws t.
  assert (P : forall better l, Permutation l (fold_right (place better) [] l)).
  { intros better. induction l as [|x l IH]; simpl; auto.
    apply perm_trans with (x :: fold_right (place better) [] l); auto. apply place_permutes. }
  unfold by_ratio. split.
  - apply (Permutation_NoDup (P _ _)), NoDup_filter, seq_NoDup.
  - intros x I. apply (Permutation_in _ (Permutation_sym (P _ _))), filter_In in I. apply I.
Qed.

(** ** The lift *)

Theorem lifted_priority_lossless : forall V p laws, (forall c, is_row V (p c)) ->
  (forall c k, Forall (is_row V) (laws c k)) -> (forall c k, (length (laws c k) <= k)%nat) -> forall s c,
  let siblings c k := draw_each (laws c k) in
  lossless_if V p c (bind (draw_at siblings s c (draw_below siblings s c)) (fun drawn =>
    lifted_priority V p laws s drawn c)).
Proof.
  intros V p laws Hp Hl Hk s c siblings. assert (O : forall Rs t, _) by exact (by_ratio_once V).
  refine (lift_lossless V p Hp (fun c k => draw_each (laws c k)) _
    (fun c k => priority_masses (by_ratio V) (laws c k))
    (fun c k t => snd (planned (by_ratio V) (laws c k) t)) _ _ _ s c).
  - clear c. intros c k. apply (proper_weaken V _ _ _ _ (draw_each_proper V _ (Hl c k))). intros drawn [L K].
    split; auto. rewrite L. auto.
  - clear c. intros c k t drawn T.
    destruct (planned_sound V _ (fun Rs t => proj1 (O Rs t)) (fun Rs t => proj2 (O Rs t)) (laws c k) t (fun _ => 0) (Hl c k) T) as [P1 _].
    destruct (shares_worth 0%nat drawn _ 1 P1) as [[W1 W2] [W3 _]]; [lra|]. auto.
  - clear c. intros c k t x T.
    apply (planned_sound V _ (fun Rs t => proj1 (O Rs t)) (fun Rs t => proj2 (O Rs t)) (laws c k) t (fun _ => 0) (Hl c k) T).
  - clear c. intros c k t x T _ I.
    apply (priority_valid V _ (fun Rs t => proj1 (O Rs t)) (fun Rs t => proj2 (O Rs t)) (laws c k) t x (Hl c k) T I).
Qed.
