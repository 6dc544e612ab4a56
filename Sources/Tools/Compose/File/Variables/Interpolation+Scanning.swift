extension Interpolation {
    struct Operation: Equatable {
        enum Kind: Character {
            case `default` = "-"
            case required = "?"
            case alternative = "+"
        }

        let kind: Kind
        /// Written with a colon: an empty value counts as none.
        let emptyIsUnset: Bool
    }

    static func takeName(_ rest: inout Substring) -> String {
        guard let first = rest.first, first == "_" || first.isASCII && first.isLetter else { return "" }
        let name = rest.prefix { $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) }
        rest = rest[name.endIndex...]
        return String(name)
    }

    static func takeOperation(_ rest: inout Substring) -> Operation? {
        let hasColon = rest.first == ":"
        guard let kind = rest.dropFirst(hasColon ? 1 : 0).first.flatMap(Operation.Kind.init) else { return nil }
        rest.removeFirst(hasColon ? 2 : 1)
        return Operation(kind: kind, emptyIsUnset: hasColon)
    }

    /// Everything up to the brace that closes the reference, references inside included.
    static func takeOperand(_ rest: inout Substring) -> Substring {
        let start = rest
        var depth = 0
        while let character = rest.first {
            if rest.hasPrefix("$$") {
                rest.removeFirst()
            } else if rest.hasPrefix("${") {
                depth += 1
            } else if character == "}" {
                if depth == 0 { break }
                depth -= 1
            }
            rest.removeFirst()
        }
        return start[..<rest.startIndex]
    }

    struct Reference: Equatable {
        let name: String
        /// Of `${V:-default}`, as written.
        var standIn: String?
        /// `${V:?}`
        var isRequired = false
    }

    /// Every variable that a text refers to, those within the operands of others included.
    static func references(in text: some StringProtocol) -> [Reference] {
        var rest = Substring(text)
        var found: [Reference] = []
        while let character = rest.popFirst() {
            guard character == "$" else { continue }
            if rest.first == "$" {
                rest.removeFirst()
                continue
            }
            let isBraced = rest.first == "{"
            if isBraced { rest.removeFirst() }
            var reference = Reference(name: takeName(&rest))
            guard !reference.name.isEmpty else { continue }
            if isBraced, let operation = takeOperation(&rest) {
                let operand = takeOperand(&rest)
                reference.standIn = operation.kind == .default ? String(operand) : nil
                reference.isRequired = operation.kind == .required
                found += [reference] + references(in: operand)
            } else {
                found.append(reference)
            }
        }
        return found
    }
}
