internal import Support

// These functions are generic. They are in this module so that the compiler specializes them: otherwise they would take
// three times as long.
extension JSONFields {
    mutating func field<Number: BoundedNumber>(
        _ name: StaticString, _ value: inout Number
    ) throws where Number.Value == Int {
        if isReading {
            let number = try member(name).number()
            guard Number.range.contains(Int64(number)) else {
                throw corrupted(
                    name, "\(number) is not between \(Number.range.lowerBound) and \(Number.range.upperBound)")
            }
            value = Number(wrappedValue: number)
        } else {
            begin(name)
            append(number: value.wrappedValue)
        }
    }

    mutating func field<Name: RawRepresentable<String>>(_ name: StaticString, _ value: inout Name) throws {
        if isReading { value = try Self.name(member(name)) } else { write(name, value.rawValue) }
    }

    /// A list that is absent if it is nil.
    mutating func field<Name: RawRepresentable<String>>(_ name: StaticString, _ value: inout [Name]?) throws {
        if isReading {
            value = try present(name)?.elements().map { try Self.name($0) }
        } else if let value {
            writeList(name, value) { fields, element in fields.append(string: element.rawValue) }
        }
    }

    mutating func field<Record: JSONRecord>(_ name: StaticString, _ value: inout Record) throws {
        if isReading {
            value = try record(at: member(name))
        } else {
            begin(name)
            try write(value)
        }
    }

    /// A record that is absent if it is nil.
    mutating func field<Record: JSONRecord>(_ name: StaticString, _ value: inout Record?) throws {
        if isReading {
            value = try present(name).map { try record(at: $0) }
        } else if let value {
            begin(name)
            try write(value)
        }
    }

    /// A record that is null if it is nil.
    mutating func field<Record: JSONRecord>(_ name: StaticString, orNull value: inout Record?) throws {
        if isReading {
            let member = try member(name)
            value = member.decodeNil() ? nil : try record(at: member)
        } else if let value {
            begin(name)
            try write(value)
        } else {
            null(name)
        }
    }

    mutating func field<Record: JSONRecord>(_ name: StaticString, _ value: inout [Record]) throws {
        if isReading {
            value = try member(name).elements().map { try record(at: $0) }
        } else {
            try writeList(name, value) { fields, element in try fields.write(element) }
        }
    }

    /// A list that may be absent in what is read.
    mutating func field<Record: JSONRecord>(_ name: StaticString, ifPresent value: inout [Record]) throws {
        if isReading {
            value = try present(name)?.elements().map { try record(at: $0) } ?? []
        } else {
            try field(name, &value)
        }
    }

    mutating func field<Record: JSONRecord>(_ name: StaticString, _ value: inout [String: Record]) throws {
        if isReading {
            value = try member(name).members { try record(at: $0) }
        } else {
            begin(name)
            append("{")
            var isFirst = true
            for element in value.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
                if !isFirst { append(",") }
                isFirst = false
                append(string: element.key)
                append(":")
                try write(element.value)
            }
            append("}")
        }
    }

    /// A member of a type that is rare, or that is not a record. It is absent if it is nil.
    mutating func field<Value: Codable>(_ name: StaticString, codable value: inout Value?) throws {
        if isReading {
            value = try present(name)?.read(Value.self)
        } else if let value {
            begin(name)
            append(json: try JSONWriter.bytes(of: value))
        }
    }

    /// A member of a type that is rare. It is null if it is nil, and may be absent in what is read.
    mutating func field<Value: Codable>(_ name: StaticString, codableOrNull value: inout Value?) throws {
        if isReading || value != nil { try field(name, codable: &value) } else { null(name) }
    }

    /// A list of a type that is rare. It is absent if it is empty.
    mutating func field<Value: Codable>(_ name: StaticString, codableUnlessEmpty value: inout [Value]) throws {
        var list = value.isEmpty ? nil : value
        try field(name, codable: &list)
        value = list ?? []
    }

    private static func name<Name: RawRepresentable<String>>(_ reader: JSONReader) throws -> Name {
        let text = try reader.string()
        guard let name = Name(rawValue: text) else {
            throw reader.corrupted("Cannot initialize \(Name.self) from invalid String value \(text)")
        }
        return name
    }

    private mutating func write(_ record: some JSONRecord) throws {
        append("{")
        var record = record
        try record.list(&self)
        append("}")
    }

    private mutating func record<Record: JSONRecord>(at reader: JSONReader) throws -> Record {
        var record = Record.blank
        try read(reader) { fields in try record.list(&fields) }
        return record
    }

    private mutating func writeList<Element>(
        _ name: StaticString, _ list: [Element], _ write: (inout JSONFields, Element) throws -> Void
    ) rethrows {
        begin(name)
        append("[")
        var isFirst = true
        for element in list {
            if !isFirst { append(",") }
            isFirst = false
            try write(&self, element)
        }
        append("]")
    }
}
