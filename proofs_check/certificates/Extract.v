(** Writes checker.ml.  Natural numbers become OCaml's integers, of 63 bits, and functions on lists those of its
    library; the numbers of rows are a module that main.ml gives, Zarith's rationals. *)
Require Import List Arith Extraction ExtrOcamlBasic ExtrOcamlNatInt ExtrOcamlNativeString.
Require Import Lines.
Extract Inlined Constant fst => "fst".
Extract Inlined Constant snd => "snd".
Extract Inlined Constant Nat.max => "max".
Extract Inlined Constant Nat.min => "min".
Extract Inlined Constant negb => "not".
Extract Inlined Constant option_map => "Option.map".
Extract Inlined Constant length => "List.length".
Extract Inlined Constant app => "(@)".
Extract Inlined Constant map => "List.map".
Extract Inlined Constant flat_map => "List.concat_map".
Extract Inlined Constant existsb => "List.exists".
Extract Inlined Constant forallb => "List.for_all".
Extract Inlined Constant seq => "(fun first n -> List.init n (fun i -> first + i))".
Extract Inlined Constant repeat => "(fun x n -> List.init n (fun _ -> x))".
Extract Inlined Constant nth => "(fun n l x -> Option.value (List.nth_opt l n) ~default:x)".
Extract Inlined Constant firstn => "(fun n l -> List.filteri (fun i _ -> i < n) l)".
Extraction "checker.ml" Lines.Checker.
