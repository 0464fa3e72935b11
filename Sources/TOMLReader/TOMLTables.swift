// SPDX-License-Identifier: Apache-2.0

/// The tables and lists of a document during parsing, with TOML's rules on defining them twice.
struct TOMLTables {
    /// The index of a table in ``tables``; the root is 0.
    typealias Index = Int

    /// The origin of a table, which decides whether later headers and keys may add to the table.
    enum Origin {
        /// The table was created by the header of a table inside it. The table's own header may follow.
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
        /// The indices in ``slots`` by the bytes of the names. Names that are only canonically equal are different keys, so bytes
        /// are compared.
        var slotIndices: [[UInt8]: Int] = [:]
        var slots: [Slot] = []
    }

    private var tables: [Table]
    /// The tables of each list `[[a]]`, stored separately so that adding one does not copy the others.
    private var lists: [[Index]] = []

    init(at place: SourcePlace) { tables = [Table(origin: .header, place: place)] }

    /// Returns the table of the header `[a.b.c]`, or a new table of the list `[[a.b.c]]`. The next keys belong to that table.
    mutating func open(_ path: [TOMLKey], isList: Bool) throws(TOMLError) -> Index {
        var currentTable = 0
        for key in path.dropLast() {
            guard let slotIndex = slotIndex(of: key, in: currentTable) else {
                currentTable = add(key, .implied, to: currentTable)
                continue
            }
            switch tables[currentTable].slots[slotIndex].item {
            case .table(let innerTable): currentTable = innerTable
            case .tables(let list): currentTable = lists[list][lists[list].count - 1]
            default: throw duplicateError(key, currentTable, slotIndex)
            }
        }
        guard let key = path.last else { return currentTable }
        guard let slotIndex = slotIndex(of: key, in: currentTable) else {
            guard isList else { return add(key, .header, to: currentTable) }
            let newTable = make(.header, key.place)
            lists.append([newTable])
            put(key, .tables(lists.count - 1), into: currentTable)
            return newTable
        }
        switch tables[currentTable].slots[slotIndex].item {
        case .table(let innerTable) where !isList && tables[innerTable].origin == .implied:
            tables[innerTable].origin = .header
            tables[innerTable].place = key.place
            return innerTable
        case .tables(let list) where isList:
            let newTable = make(.header, key.place)
            lists[list].append(newTable)
            return newTable
        default: throw duplicateError(key, currentTable, slotIndex)
        }
    }

    /// Sets the value of `a.b.c =` in a table.
    mutating func set(_ path: [TOMLKey], to value: TOMLValue, in table: Index) throws(TOMLError) {
        var currentTable = table
        for key in path.dropLast() {
            guard let slotIndex = slotIndex(of: key, in: currentTable) else {
                currentTable = add(key, .dottedKey, to: currentTable)
                continue
            }
            guard case .table(let innerTable) = tables[currentTable].slots[slotIndex].item,
                tables[innerTable].origin == .dottedKey || tables[innerTable].origin == .implied
            else { throw duplicateError(key, currentTable, slotIndex) }
            tables[innerTable].origin = .dottedKey
            currentTable = innerTable
        }
        guard let key = path.last else { return }
        if let slotIndex = slotIndex(of: key, in: currentTable) { throw duplicateError(key, currentTable, slotIndex) }
        put(key, .value(value), into: currentTable)
    }

    /// Returns a table as a value; by default the root, which is the whole document. The recursion is limited by
    /// ``TOMLValue/maximumDepth``.
    func value(of table: Index = 0) -> TOMLValue {
        let entries = tables[table].slots.map { slot in
            let value =
                switch slot.item {
                case .value(let value): value
                case .table(let innerTable): self.value(of: innerTable)
                case .tables(let list): TOMLValue(.array(lists[list].map { self.value(of: $0) }), slot.place)
                }
            return TOMLValue.Entry(key: slot.name, place: slot.place, value: value)
        }
        return TOMLValue(.table(entries), tables[table].place)
    }

    private func slotIndex(of key: TOMLKey, in table: Index) -> Int? { tables[table].slotIndices[key.bytes] }

    private mutating func make(_ origin: Origin, _ place: SourcePlace) -> Index {
        tables.append(Table(origin: origin, place: place))
        return tables.count - 1
    }

    private mutating func add(_ key: TOMLKey, _ origin: Origin, to table: Index) -> Index {
        let newTable = make(origin, key.place)
        put(key, .table(newTable), into: table)
        return newTable
    }

    private mutating func put(_ key: TOMLKey, _ item: Item, into table: Index) {
        tables[table].slotIndices[key.bytes] = tables[table].slots.count
        tables[table].slots.append(Slot(name: key.name, place: key.place, item: item))
    }

    private func duplicateError(_ key: TOMLKey, _ table: Index, _ slotIndex: Int) -> TOMLError {
        let slot = tables[table].slots[slotIndex]
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
