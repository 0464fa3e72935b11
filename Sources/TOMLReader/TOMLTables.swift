// SPDX-License-Identifier: Apache-2.0

/// The tables and lists of a document during parsing, with TOML's rules on defining them twice.
struct TOMLTables {
    /// The index of a table or list; the root is 0.
    typealias Index = Int

    /// The origin of a table, which decides who may add to it.
    enum Origin {
        /// Created by the header of a table inside it. Its own header may follow.
        case implied
        case header
        case dottedKey
    }

    private enum Item {
        case table(Index)
        /// An array of tables, by its index in ``lists``.
        case tables(Int)
        case value(TOMLValue)
    }
    private struct Slot {
        var name: String
        var place: SourcePlace
        var item: Item
    }
    private struct Table {
        var origin: Origin
        var place: SourcePlace
        /// The indices of entries by the bytes of their names: strings that are only canonically equal are different keys.
        var numbers: [[UInt8]: Int] = [:]
        var slots: [Slot] = []
    }

    private var tables: [Table]
    /// The tables of each `[[a]]`, stored separately so that adding one does not copy the others.
    private var lists: [[Index]] = []

    init(at place: SourcePlace) { tables = [Table(origin: .header, place: place)] }

    /// Opens the table that `[a.b.c]` names, or a new one of `[[a.b.c]]`. The next keys are added to it.
    mutating func open(_ path: [TOMLKey], isList: Bool) throws(TOMLError) -> Index {
        var here = 0
        for key in path.dropLast() {
            guard let number = number(of: key, in: here) else {
                here = add(key, .implied, to: here)
                continue
            }
            switch tables[here].slots[number].item {
            case .table(let inner): here = inner
            case .tables(let list): here = lists[list][lists[list].count - 1]
            default: throw taken(key, here, number)
            }
        }
        guard let key = path.last else { return here }
        guard let number = number(of: key, in: here) else {
            guard isList else { return add(key, .header, to: here) }
            let made = make(.header, key.place)
            lists.append([made])
            put(key, .tables(lists.count - 1), into: here)
            return made
        }
        switch tables[here].slots[number].item {
        case .table(let inner) where !isList && tables[inner].origin == .implied:
            tables[inner].origin = .header
            tables[inner].place = key.place
            return inner
        case .tables(let list) where isList:
            let made = make(.header, key.place)
            lists[list].append(made)
            return made
        default: throw taken(key, here, number)
        }
    }

    /// Sets the value of `a.b.c =` in a table.
    mutating func set(_ path: [TOMLKey], to value: TOMLValue, in table: Index) throws(TOMLError) {
        var here = table
        for key in path.dropLast() {
            guard let number = number(of: key, in: here) else {
                here = add(key, .dottedKey, to: here)
                continue
            }
            guard case .table(let inner) = tables[here].slots[number].item,
                tables[inner].origin == .dottedKey || tables[inner].origin == .implied
            else { throw taken(key, here, number) }
            tables[inner].origin = .dottedKey
            here = inner
        }
        guard let key = path.last else { return }
        if let number = number(of: key, in: here) { throw taken(key, here, number) }
        put(key, .value(value), into: here)
    }

    /// Returns the whole document. The recursion is limited by ``TOMLValue/maximumDepth``.
    func value(of table: Index = 0) -> TOMLValue {
        let entries = tables[table].slots.map { slot in
            let value =
                switch slot.item {
                case .value(let value): value
                case .table(let inner): self.value(of: inner)
                case .tables(let list): TOMLValue(.array(lists[list].map { self.value(of: $0) }), slot.place)
                }
            return TOMLValue.Entry(key: slot.name, place: slot.place, value: value)
        }
        return TOMLValue(.table(entries), tables[table].place)
    }

    private func number(of key: TOMLKey, in table: Index) -> Int? { tables[table].numbers[key.bytes] }

    private mutating func make(_ origin: Origin, _ place: SourcePlace) -> Index {
        tables.append(Table(origin: origin, place: place))
        return tables.count - 1
    }

    private mutating func add(_ key: TOMLKey, _ origin: Origin, to table: Index) -> Index {
        let made = make(origin, key.place)
        put(key, .table(made), into: table)
        return made
    }

    private mutating func put(_ key: TOMLKey, _ item: Item, into table: Index) {
        tables[table].numbers[key.bytes] = tables[table].slots.count
        tables[table].slots.append(Slot(name: key.name, place: key.place, item: item))
    }

    private func taken(_ key: TOMLKey, _ table: Index, _ number: Int) -> TOMLError {
        let slot = tables[table].slots[number]
        let what =
            switch slot.item {
            case .table, .tables: "is a table"
            case .value(let value): "is \(value.kind)"
            }
        return TOMLError(
            reason: .duplicate, place: key.place,
            problem: "'\(key.name)' \(what) already (line \(slot.place.line)); rename one of the two or combine them")
    }
}

/// One part of a key.
struct TOMLKey {
    var name: String
    var place: SourcePlace

    var bytes: [UInt8] { Array(name.utf8) }
}
