"""Random kernels of strided accesses in plain memref, vector, scf and amdgpu ops,
with what they do to memory in 64-bit NumPy arithmetic.

Every kernel has some sites. A load site copies what it reads to a place of its
own in `out`; a store site writes to `dst` a value that its element number alone
decides, so that lanes that meet agree.
"""

from dataclasses import dataclass, field

import numpy as np

LANES, BLOCKS = 128, 2
WIDTH = 4  # elements of `out` for each lane of a site
TYPES = {"i8": np.uint8, "i16": np.uint16, "i32": np.uint32, "i64": np.uint64}
FAT = "#amdgpu.address_space<fat_raw_buffer>"


class Body:
    """Text of a function with fresh names."""

    def __init__(self):
        self.lines, self.count = [], 0

    def emit(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"%v{self.count} = {text}")
        return f"%v{self.count}"

    def op(self, text: str):
        self.lines.append(text)

    def constant(self, value: int, type_: str = "index") -> str:
        return self.emit(f"arith.constant {value} : {type_}")


@dataclass
class Index:
    """An expression: how it is written, and its values. `emit` and `evaluate`
    get the loop variable and what the loop carries."""

    emit: object
    evaluate: object
    limit: int  # greatest value


class Program:
    """One kernel and its data."""

    def __init__(self, rng, name: str):
        self.rng, self.name = rng, name
        self.dtype_name = rng.choice(list(TYPES))
        self.dtype = TYPES[self.dtype_name]
        self.u = [int(x) for x in rng.integers(0, 60, 2)]
        self.tables = []  # each [BLOCKS, LANES]
        self.body = Body()
        self.views, self.sites = [], []
        self.args = [("u0", "index"), ("u1", "index"), ("table", "memref<?xindex>"),
                     ("vals", f"memref<?x{self.dtype_name}>"),
                     ("out", f"memref<?x{self.dtype_name}>")]
        self.accesses = 0
        self.out_places = 0
        self.src_elements = self.dst_elements = 1
        # Made by run(): what the oracle expects.
        self.plan = []

    def pick(self, *options):
        return options[self.rng.integers(len(options))]

    def number(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high + 1))

    # Index expressions ------------------------------------------------------

    def table(self, limit: int, is_uniform: bool) -> Index:
        values = self.rng.integers(0, limit + 1, (BLOCKS, LANES))
        if is_uniform:
            values = np.repeat(values[:, :1], LANES, axis=1)
        first = len(self.tables) * BLOCKS * LANES
        self.tables.append(values)
        has_bound = self.rng.random() < 0.5

        def emit(b, iv, acc):
            place = b.emit(f"arith.addi {'%row' if is_uniform else '%place'}, "
                           f"{b.constant(first)} : index")
            value = b.emit(f"memref.load %table[{place}] : memref<?xindex>")
            if has_bound:
                value = b.emit(f"pa.assume {value} {{min = 0 : i64, max = {limit} : i64}} : index")
            return value
        return Index(emit, lambda iv, acc: values, limit)

    def atom(self, in_loop: bool) -> Index:
        lanes = np.broadcast_to(np.arange(LANES), (BLOCKS, LANES))
        blocks = np.broadcast_to(np.arange(BLOCKS)[:, None], (BLOCKS, LANES))
        u = self.number(0, 1)
        constant = self.number(0, 40)

        def binary(op, divisor, values, limit):
            return Index(lambda b, iv, acc: b.emit(f"arith.{op} %t, {b.constant(divisor)} : index"),
                         lambda iv, acc: values, limit)
        options = [
            lambda: Index(lambda b, iv, acc: "%t", lambda iv, acc: lanes, LANES - 1),
            lambda: Index(lambda b, iv, acc: "%b", lambda iv, acc: blocks, BLOCKS - 1),
            lambda: Index(lambda b, iv, acc: f"%u{u}",
                          lambda iv, acc: np.full_like(lanes, self.u[u]), self.u[u]),
            lambda: Index(lambda b, iv, acc: b.constant(constant),
                          lambda iv, acc: np.full_like(lanes, constant), constant),
            lambda: binary("remui", 16, lanes % 16, 15),
            lambda: binary("divui", 64, lanes // 64, LANES // 64 - 1),
            lambda: binary("divui", 16, lanes // 16, LANES // 16 - 1),
            lambda: binary("xori", 5, lanes ^ 5, LANES - 1),
            # A narrow integer on the way.
            lambda: Index(
                lambda b, iv, acc: b.emit(
                    "arith.index_cast " + b.emit(
                        "arith.muli " + b.emit("arith.index_cast %t : index to i32") +
                        ", " + b.constant(3, "i32") + " : i32") + " : i32 to index"),
                lambda iv, acc: lanes * 3, 3 * (LANES - 1)),
            # Downwards.
            lambda: Index(lambda b, iv, acc: b.emit(
                f"arith.subi {b.constant(LANES - 1)}, %t : index"),
                lambda iv, acc: LANES - 1 - lanes, LANES - 1),
            lambda: self.table(self.number(1, 50), False),
            lambda: self.table(self.number(1, 50), True),
        ]
        if in_loop:
            options += 2 * [
                lambda: Index(lambda b, iv, acc: iv[0],
                              lambda iv, acc: np.full_like(lanes, iv), self.iterations - 1),
                lambda: Index(lambda b, iv, acc: acc[0], lambda iv, acc: acc, self.acc_limit)]
        return options[self.rng.integers(len(options))]()

    def index(self, in_loop: bool) -> Index:
        terms = [(self.atom(in_loop), self.pick(1, 1, 1, 2, 3)) for _ in range(self.number(1, 3))]
        # Further and back again, the two far apart.
        there = self.pick(0, 0, 0, 7)

        def emit(b, iv, acc):
            total = b.constant(-there) if there else None
            for atom, scale in terms:
                value = atom.emit(b, iv, acc)
                if scale > 1:
                    value = b.emit(f"arith.muli {value}, {b.constant(scale)} : index")
                total = value if total is None else b.emit(f"arith.addi {total}, {value} : index")
            if there:
                seven = b.emit(f"arith.addi %b, {b.constant(there)} : index")
                total = b.emit(f"arith.addi {total}, {seven} : index")
                total = b.emit(f"arith.subi {total}, %b : index")
            return total
        return Index(emit, lambda iv, acc: sum(a.evaluate(iv, acc) * s for a, s in terms),
                     sum(a.limit * s for a, s in terms))

    # Sites ------------------------------------------------------------------

    def add_site(self):
        """One access: chooses view, indices and kind, writes the code and keeps
        how to evaluate it."""
        rng, b, T = self.rng, self.body, self.dtype_name
        in_loop = rng.random() < 0.4
        kind = self.pick("load", "load", "store", "store", "vload", "vstore", "masked",
                         "maskedstore", "atomic", "raw", "rawstore", "rawatomic", "fat", "fatstore")
        if kind == "atomic" and T not in ("i32", "i64"):
            kind = "store"
        if kind == "rawatomic" and T != "i32":
            kind = "rawstore"
        is_store = kind in ("store", "vstore", "maskedstore", "rawstore", "rawatomic", "fatstore",
                            "atomic")
        is_bounded = kind in ("raw", "rawstore", "rawatomic", "fat", "fatstore")
        n = {"vload": self.pick(2, 4), "vstore": self.pick(2, 4), "masked": 4,
             "maskedstore": 4}.get(kind, 1)
        if is_bounded and T == "i32" and kind != "rawatomic":
            n = self.pick(1, 4)
        self.iterations = self.number(1, 4) if in_loop else 1
        step = self.number(0, 20)
        acc_starts_at_lane = in_loop and rng.random() < 0.3
        self.acc_limit = step * self.iterations + (LANES if acc_starts_at_lane else 0)

        # The view: dimensions of its own, or part of the argument.
        rank = self.number(1, 3)
        indices = [self.index(in_loop) for _ in range(rank)]
        inner = 1 if n > 1 else self.pick(1, 1, 1, 2, 3)
        strides = [inner]
        for _ in range(rank - 1):
            strides.insert(0, self.number(1, self.pick(8, 60, 700)))
        chain = "none" if kind.startswith("raw") else \
            self.pick("none", "none", "subview", "subview", "cast", "reinterpret")
        if chain == "reinterpret" and is_bounded:
            chain = "subview"
        shift = self.index(in_loop) if chain in ("subview", "reinterpret") else None
        sizes = [i.limit + 1 for i in indices]
        sizes[-1] += n - 1
        lengths = [str(size) for size in sizes]
        if chain == "subview":
            sizes[0] += shift.limit
        if is_bounded:
            # Some lanes lie outside the resource.
            sizes[0] = max(1, sizes[0] - self.number(0, sizes[0] // 2))
            lengths[0] = str(min(int(lengths[0]), sizes[0]))
        is_dynamic = not is_bounded and rng.random() < 0.3
        stride_text = ["?" if is_dynamic and i < rank - 1 else str(s)
                       for i, s in enumerate(strides)]
        size_text = ["?" if not is_bounded and rng.random() < 0.4 else str(s) for s in sizes]
        name = f"m{len(self.sites)}"
        type_ = f"memref<{'x'.join(size_text)}x{T}, strided<[{', '.join(stride_text)}]>>"
        self.args.append((name, type_))

        iv, acc = ["%iv"], ["%acc"]
        first = self.out_places
        self.out_places += self.iterations * BLOCKS * LANES * WIDTH
        if in_loop:
            start = "%t" if acc_starts_at_lane else "%c0"
            count = b.constant(self.iterations)
            b.count += 1
            b.op(f"%loop{b.count} = scf.for %iv = %c0 to {count} step %c1 "
                 f"iter_args(%acc = {start}) -> (index) {{")
        else:
            iv, acc = ["%c0"], ["%c0"]

        # Views on the way.
        view, view_type = f"%{name}", type_
        space = ""
        if kind.startswith("fat"):
            space = f", {FAT}"
            fat_type = type_[:-1] + space + ">"
            view = b.emit(f"amdgpu.fat_raw_buffer_cast {view} resetOffset : {type_} to {fat_type}")
            view_type = fat_type
        if chain == "cast":
            dynamic = f"memref<{'x'.join('?' * rank)}x{T}, strided<[" + \
                ", ".join("?" * (rank - 1) + "1") + f"], offset: ?>{space}>" \
                if inner == 1 else None
            if dynamic:
                new_type = dynamic
                view = b.emit(f"memref.cast {view} : {view_type} to {new_type}")
                view_type = new_type
        elif chain == "subview":
            amount = shift.emit(b, iv, acc)
            new_type = f"memref<{'x'.join(lengths)}x{T}, strided<[" + \
                ", ".join(stride_text) + f"], offset: ?>{space}>"
            view = b.emit(f"memref.subview {view}[{', '.join([amount] + ['0'] * (rank - 1))}] "
                          f"[{', '.join(lengths)}] [{', '.join(['1'] * rank)}] : "
                          f"{view_type} to {new_type}")
            view_type = new_type
        elif chain == "reinterpret":
            amount = shift.emit(b, iv, acc)
            new_type = f"memref<{'x'.join(lengths)}x{T}, strided<[" + \
                ", ".join(map(str, strides)) + "], offset: ?>>"
            view = b.emit(f"memref.reinterpret_cast {view} to offset: [{amount}], "
                          f"sizes: [{', '.join(lengths)}], "
                          f"strides: [{', '.join(map(str, strides))}] : {view_type} to {new_type}")
            view_type = new_type
        shift_stride = 1 if chain == "reinterpret" else strides[0]

        names = [i.emit(b, iv, acc) for i in indices]
        at = ", ".join(names)
        # Where the result goes: (iteration * blocks * lanes + place) * WIDTH.
        place = b.emit(f"arith.muli {iv[0]}, {b.constant(BLOCKS * LANES)} : index")
        place = b.emit(f"arith.addi {place}, %place : index")
        place = b.emit(f"arith.muli {place}, {b.constant(WIDTH)} : index")
        place = b.emit(f"arith.addi {place}, {b.constant(first)} : index")
        is_masked = not kind.startswith("masked") and rng.random() < 0.3
        active = self.number(1, LANES) if is_masked else LANES
        wild = self.pick(2**31 - 1, 2**40, -1)
        if kind.startswith("raw") and wild == 2**40:
            wild = -5
        if is_masked:
            # A lane that is masked off may have any index; a resource masks by it.
            test = b.emit(f"arith.cmpi ult, %t, {b.constant(active)} : index")
            names[0] = b.emit(f"arith.select {test}, {names[0]}, {b.constant(wild)} : index")
            at = ", ".join(names)
            if not is_bounded:
                b.op(f"scf.if {test} {{")
        vec = f"vector<{n}x{T}>"

        def put(value):
            if n > 1:
                b.op(f"vector.store {value}, %out[{place}] : memref<?x{T}>, {vec}")
            else:
                b.op(f"memref.store {value}, %out[{place}] : memref<?x{T}>")

        def get():
            return b.emit(f"vector.load %vals[{place}] : memref<?x{T}>, {vec}" if n > 1 else
                          f"memref.load %vals[{place}] : memref<?x{T}>")
        on = self.number(0, n) if kind.startswith("masked") else n
        if kind.startswith("masked"):
            bits = ", ".join("true" if i < on else "false" for i in range(n))
            mask = b.emit(f"arith.constant dense<[{bits}]> : vector<{n}xi1>")
        if kind.startswith("raw"):
            narrow = [b.emit(f"arith.index_cast {x} : index to i32") for x in names]
            extra = self.pick(0, 0, 3)
            attr = f"{{indexOffset = {extra} : i32}} " if extra else ""
            value_type = vec if n > 1 else T
            where = f"%{name}[{', '.join(narrow)}]"
            i32s = ", ".join(["i32"] * rank)
            if kind == "rawatomic":
                b.op(f"amdgpu.raw_buffer_atomic_umin {attr}{get()} -> {where} : {T} -> {type_}, "
                     f"{i32s}")
            elif is_store:
                b.op(f"amdgpu.raw_buffer_store {attr}{get()} -> {where} : {value_type} -> "
                     f"{type_}, {i32s}")
            else:
                put(b.emit(f"amdgpu.raw_buffer_load {attr}{where} : {type_}, {i32s} -> "
                           f"{value_type}"))
        else:
            extra = 0
            if kind in ("load", "vload", "fat"):
                put(b.emit(f"vector.load {view}[{at}] : {view_type}, {vec}" if n > 1 else
                           f"memref.load {view}[{at}] : {view_type}"))
            elif kind in ("store", "vstore", "fatstore"):
                value = get()
                b.op(f"vector.store {value}, {view}[{at}] : {view_type}, {vec}" if n > 1 else
                     f"memref.store {value}, {view}[{at}] : {view_type}")
            elif kind == "masked":
                zero = b.emit(f"arith.constant dense<7> : {vec}")
                put(b.emit(f"vector.maskedload {view}[{at}], {mask}, {zero} : {view_type}, "
                           f"vector<{n}xi1>, {vec} into {vec}"))
            elif kind == "maskedstore":
                b.op(f"vector.maskedstore {view}[{at}], {mask}, {get()} : {view_type}, "
                     f"vector<{n}xi1>, {vec}")
            else:
                b.emit(f"memref.atomic_rmw addi {get()}, {view}[{at}] : ({T}, {view_type}) -> {T}")
        if is_masked and not is_bounded:
            b.op("}")
        if in_loop:
            following = b.emit(f"arith.addi {acc[0]}, {b.constant(step)} : index")
            b.op(f"scf.yield {following} : index")
            b.op("}")

        # The oracle: element numbers of each iteration, [BLOCKS, LANES, n].
        starts = np.broadcast_to(np.arange(LANES) if acc_starts_at_lane else 0, (BLOCKS, LANES))
        rounds = []
        for i in range(self.iterations):
            carried = starts + i * step
            values = [x.evaluate(i, carried).astype(np.int64) for x in indices]
            if is_bounded:
                values[0] = np.where(np.arange(LANES) < active, values[0], wild)
            base = sum(x * s for x, s in zip(values, strides)) + extra
            if shift:
                base = base + shift.evaluate(i, carried) * shift_stride
            rounds.append(base[..., None] + np.arange(n))
        elements = np.stack(rounds).astype(np.int64)
        valid = np.zeros(elements.shape, bool)
        valid[:, :, :LANES if is_bounded else active, :on] = True
        if is_bounded:
            valid &= elements < max(size * stride for size, stride in zip(sizes, strides))
            valid &= elements[..., :1] >= 0
        self.sites.append(dict(name=name, kind=kind, first=first, n=n, is_store=is_store,
                               is_bounded=is_bounded, elements=elements, valid=valid,
                               active=LANES if is_bounded else active, sizes=sizes, strides=strides))
        self.accesses += elements.size

    def text(self) -> str:
        args = ", ".join(f"%{name}: {type_}" for name, type_ in self.args)
        prologue = f"""
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %lanes = arith.constant {LANES} : index
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %row = arith.muli %b, %lanes : index
    %place = arith.addi %row, %t : index
    """
        return (f"  gpu.func @{self.name}({args}) kernel attributes "
                f"{{known_block_size = array<i32: {LANES}, 1, 1>}} {{{prologue}" +
                "\n    ".join(self.body.lines) + "\n    gpu.return\n  }\n")

    # Data ---------------------------------------------------------------------

    def make_data(self):
        """Memory before and after, by argument; arrays of the element type."""
        rng, dtype = self.rng, self.dtype
        vals = rng.integers(0, 2**62, max(self.out_places, 1)).astype(dtype)
        out_before = np.full(max(self.out_places, 1), 0x55, dtype)
        out = out_before.copy()
        before = {"table": (np.concatenate([t.reshape(-1) for t in self.tables])
                            if self.tables else np.zeros(1)).astype(np.uint64),
                  "vals": vals, "out": out_before}
        after = {}
        for site in self.sites:
            elements, valid, n = site["elements"], site["valid"], site["n"]
            # Room after the view for what must not be written.
            length = int(elements[valid].max(initial=0)) + 64
            if site["is_bounded"]:
                length = max(length, min(int(elements.max()), 10**6) + 64)
            memory = rng.integers(0, 2**62, length).astype(dtype)
            before[site["name"]] = memory.copy()
            places = site["first"] + WIDTH * np.arange(elements[..., 0].size).reshape(
                elements.shape[:-1])[..., None] + np.arange(n)
            if site["kind"] == "atomic":
                np.add.at(memory, elements[valid], vals[places[valid]])
            elif site["kind"] == "rawatomic":
                np.minimum.at(memory, elements[valid], vals[places[valid]])
            elif site["is_store"]:
                vals[places] = (elements * 40503 + 17).astype(dtype)
                memory[elements[valid]] = vals[places[valid]]
            else:
                absent = 7 if site["kind"] == "masked" else 0
                found = np.where(valid, memory[np.clip(elements, 0, length - 1)],
                                 np.array(absent, dtype))
                ran = np.zeros(elements.shape, bool)
                ran[:, :, :site["active"]] = True
                out[places[ran]] = found[ran]
            after[site["name"]] = memory
        after["out"] = out
        return before, after
