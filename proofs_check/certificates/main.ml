(* Reads a certificate, one JSON value a line, and asks the checker about each line. This file is not proved: it
   reads JSON, gives Zarith's rationals to the checker, and counts its answers. *)

module Number = struct
  type t = Q.t
  let zero, one = Q.zero, Q.one
  let add, sub, mul, div = Q.add, Q.sub, Q.mul, Q.div
  let equal, less = Q.equal, Q.lt
end

module It = Checker.Checker (Number)
open Checker
open It
open It.C
open It.D

exception Bad of string

(* "3", "-1/2": digits, perhaps a sign, perhaps a denominator that is not zero. *)
let rational s =
  let digits from upto =
    from < upto && (let ok = ref true in for i = from to upto - 1 do if s.[i] < '0' || s.[i] > '9' then ok := false done; !ok) in
  let n = String.length s in
  let start = if n > 0 && s.[0] = '-' then 1 else 0 in
  match String.index_opt s '/' with
  | None -> if digits start n then Some (Q.of_string s) else None
  | Some i when digits start i && digits (i + 1) n ->
      let below = Z.of_substring s ~pos:(i + 1) ~len:(n - i - 1) in
      if Z.sign below = 0 then raise (Bad "a denominator is zero")
      else Some (Q.make (Z.of_substring s ~pos:0 ~len:i) below)
  | Some _ -> None

let parse line =
  let at = ref 0 and n = String.length line in
  let peek () = if !at < n then line.[!at] else raise (Bad "the line ends too early") in
  let expect c = if peek () = c then incr at else raise (Bad (Printf.sprintf "no %c at column %d" c !at)) in
  let skip () = while !at < n && line.[!at] = ' ' do incr at done in
  let quoted () =
    expect '"';
    let start = !at in
    while peek () <> '"' do if peek () = '\\' then incr at; incr at done;
    incr at;
    String.sub line start (!at - 1 - start) in
  let word w = String.iter expect w; Text w in
  let rec listed close each =
    skip ();
    if peek () = close then (incr at; [])
    else
      let first = each () in
      skip ();
      if peek () = ',' then (incr at; first :: more close each) else (expect close; [ first ])
  and more close each =
    let first = each () in
    skip ();
    if peek () = ',' then (incr at; first :: more close each) else (expect close; [ first ]) in
  let rec value () =
    skip ();
    match peek () with
    | '[' -> incr at; Items (listed ']' value)
    | '{' -> incr at; Fields (listed '}' pair)
    | '"' -> let s = quoted () in (match rational s with Some x -> Number x | None -> Text s)
    | '0' .. '9' ->
        let start = !at in
        while !at < n && line.[!at] >= '0' && line.[!at] <= '9' do incr at done;
        if !at - start > 9 then raise (Bad "an integer is too long");
        Whole (int_of_string (String.sub line start (!at - start)))
    | 't' -> word "true"
    | 'f' -> word "false"
    | _ -> raise (Bad (Printf.sprintf "no value at column %d" !at))
  and pair () = skip (); let key = quoted () in skip (); expect ':'; (key, value ()) in
  let v = value () in
  skip ();
  if !at < n then raise (Bad "something follows the value") else v

let () =
  let file = if Array.length Sys.argv = 2 then open_in Sys.argv.(1) else (prerr_endline "usage: checker FILE"; exit 2) in
  let now = ref None and number = ref 0 in
  let instances = ref 0 and lossless = ref 0 and lossy = ref 0 and invalid = ref 0 and listed = ref 0 and batches = ref 0 in
  let optima = ref 0 and bounds = ref 0 in
  let sizes = ref 0 and declared = ref 0 and assumed = ref 0 in
  let refuse why = Printf.printf "line %d: refused%s\n" !number why; exit 1 in
  (try
     while true do
       let text = input_line file in
       incr number;
       match line !now (parse text) with
       | Some (Begun i) -> now := Some i; incr instances; (match i.draws with Listed _ -> incr listed | _ -> ())
       | Some (Accepted k) -> incr (if k.found <> None then lossy else if k.invalid then invalid else lossless)
       | Some (Joint b) -> incr batches; incr (if b.claim = None then lossless else lossy)
       | Some (Optimal c) -> incr (if c.plan = None then bounds else optima)
       | Some (Proved (Proof (_, _, drawn, _, _, l, _, _, law))) ->
           incr sizes;
           if drawn then incr listed;
           if law <> Stop [] then incr declared;
           assumed := !assumed + List.length (List.filter (fun (_, why) -> why = None) l)
       | None -> refuse ""
       | exception Bad why -> refuse (": " ^ why)
       | exception Stack_overflow -> refuse ": it needs a larger stack (ulimit -s unlimited)"
     done
   with End_of_file -> ());
  Printf.printf "accepted: %d laws that are the target's, %d that are not, on %d instances" !lossless !lossy !instances;
  if !invalid > 0 then Printf.printf ", runs of no sampler: %d" !invalid;
  if !batches > 0 then Printf.printf ", of batches: %d" !batches;
  if !optima > 0 then Printf.printf ", optima: %d" !optima;
  if !bounds > 0 then Printf.printf ", bounds of rules without state: %d" !bounds;
  if !sizes > 0 then Printf.printf ", proofs of a size: %d" !sizes;
  if !declared > 0 then Printf.printf ", %d of a declared law" !declared;
  if !sizes > 0 then Printf.printf ", cells empty on z3's word: %d" !assumed;
  if !listed > 0 then Printf.printf ", of %d the drafts as listed" !listed;
  print_newline ();
  if !lossless + !lossy + !invalid + !optima + !bounds + !sizes = 0 then exit 1
