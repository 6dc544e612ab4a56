internal import Contracts
package import EventBus
internal import Support

/// The changes between two contracts of an app.
///
/// A change is breaking if receivers with the old contract cannot read a message that is sent now, or if services no
/// longer accept a message of senders with the old contract. Programs outside of the contract may send commands and
/// queries, and may receive events, errors and documents.
package struct ContractComparison {
    private let old: AppContract
    private let new: AppContract

    package init(from old: AppContract, to new: AppContract) {
        self.old = old
        self.new = new
    }

    /// The findings, ordered by message. For each message, the breaking findings are first.
    package var findings: [ContractFinding] {
        let types = Set(old.types + new.types).sorted { $0.description < $1.description }
        return types.flatMap { type in
            let breaking = removal(of: type) ?? changes(of: type)
            return breaking + compatible(type, but: breaking) + answers(to: type)
        }
    }

    private func removal(of type: MessageType) -> [ContractFinding]? {
        let (receivers, senders) = (old.receivers(of: type), old.senders(of: type))
        if type.isRequest {
            guard !receivers.isEmpty, new.receivers(of: type).isEmpty else { return nil }
            return [finding(type, "no longer received, but sent by \(senders.named("others")); keep receiving it")]
        }
        guard !senders.isEmpty, new.senders(of: type).isEmpty else { return nil }
        return [finding(type, "no longer sent, but received by \(receivers.named("others")); keep sending it")]
    }

    private func changes(of type: MessageType) -> [ContractFinding] {
        guard let former = old.messages[type], let present = new.messages[type] else { return [] }
        let (formerReaders, formerWriters) = (old.receivers(of: type), old.senders(of: type))
        var findings: [ContractFinding] = []
        if !new.senders(of: type).isEmpty, !formerReaders.isEmpty || !type.isRequest {
            findings += sending(type, former: former.data, present: present.data, to: formerReaders.named("others"))
        }
        if !new.receivers(of: type).isEmpty {
            // A value with another form breaks both senders and receivers. The change is reported once.
            let told = Set(findings.map(\.path))
            if !formerWriters.isEmpty || type.isRequest {
                findings += receiving(
                    type, former: former.data, present: present.data, from: formerWriters.named("others")
                )
                .filter { !told.contains($0.path) }
            }
            findings += sending(
                type, former: former.answer, present: present.answer, to: formerWriters.named("others"), "answer")
        }
        return findings
    }

    /// The findings for receivers that read a sent message by its former schema.
    private func sending(
        _ type: MessageType, former: JSONSchema?, present: JSONSchema?, to readers: String, _ root: String = "data"
    ) -> [ContractFinding] {
        guard let former, let present else { return [] }
        return former.clashes(readingFrom: present, at: root).map { clash in
            finding(type, clash.reason.whenSending(to: readers), at: clash.path)
        }
    }

    /// The findings for senders that write a received message by its former schema.
    private func receiving(
        _ type: MessageType, former: JSONSchema?, present: JSONSchema?, from writers: String
    ) -> [ContractFinding] {
        guard let former, let present else { return [] }
        return present.clashes(readingFrom: former).map { clash in
            finding(type, clash.reason.whenReceiving(from: writers), at: clash.path)
        }
    }

    private func finding(
        _ type: MessageType, _ message: String, at path: String? = nil, isBreaking: Bool = true
    ) -> ContractFinding {
        ContractFinding(type: type, path: path, isBreaking: isBreaking, message: message)
    }

    /// The changes of what handlers send, of services whose handlers both contracts have. They break no program, but
    /// possibly a flow that waits: 'segue flow explore' tells.
    private func answers(to type: MessageType) -> [ContractFinding] {
        new.parties.sorted { $0.key < $1.key }.compactMap { name, party in
            guard let former = old.parties[name]?.handlers?[type], let present = party.handlers?[type] else {
                return nil
            }
            let changes = [
                ("no longer ", former.subtracting(present)), ("now also ", present.subtracting(former)),
            ]
            .filter { !$1.isEmpty }
            .map { "\($0)answered by \(name) with \($1.map(\.description).sorted().named(""))" }
            return changes.isEmpty ? nil : finding(type, changes.joined(separator: ", "), isBreaking: false)
        }
    }

    /// The findings for changes that break no program.
    private func compatible(_ type: MessageType, but breaking: [ContractFinding]) -> [ContractFinding] {
        guard let present = new.messages[type] else {
            return breaking.isEmpty ? [finding(type, "removed; no service relied on it", isBreaking: false)] : []
        }
        guard let former = old.messages[type] else { return [finding(type, "new", isBreaking: false)] }
        let (before, after) = (former.leaves, present.leaves)
        let told = Set(breaking.map(\.path))
        return Set(before.keys).union(after.keys).subtracting(told.compactMap(\.self)).sorted().compactMap { path in
            guard !told.contains(nil), before[path] != after[path] else { return nil }
            let change =
                switch (before[path], after[path]) {
                case (let was?, let isNow?): "was \(was), is \(isNow)"
                case (nil, let isNow?): "new, \(isNow)"
                default: "removed"
                }
            return finding(type, change, at: path, isBreaking: false)
        }
    }
}

extension MessageType {
    /// True if the message asks its receiver to do something: a command or a query.
    fileprivate var isRequest: Bool { kind == .command || kind == .query }
}

extension [String] {
    /// The names as a list in a sentence: `a, b and c`. `none` if there are no names.
    fileprivate func named(_ none: String) -> String {
        switch count {
        case 0: none
        case 1: self[0]
        default: dropLast().joined(separator: ", ") + " and " + self[count - 1]
        }
    }
}

/// A change of a contract.
package struct ContractFinding: Hashable, Sendable, Encodable, CustomStringConvertible {
    package let type: MessageType
    /// The changed part of the message: `data.songs[].title`. Nil for the message itself.
    package let path: String?
    /// True if the change breaks programs that use the old contract.
    package let isBreaking: Bool
    /// The change; for a breaking change, also the services that it breaks and a remedy.
    package let message: String

    private enum CodingKeys: String, CodingKey {
        case type, path
        case isBreaking = "breaking"
        case message
    }

    package var description: String { "\(type): \(path.map { "\($0): " } ?? "")\(message)" }
}

extension JSONSchema.Clash.Reason {
    /// The finding for a sender that has changed while the receivers have not.
    func whenSending(to readers: String) -> String {
        switch self {
        case .missing: "no longer sent, but needed by \(readers); keep sending it"
        case .optional: "may be left out now, but needed by \(readers); keep it required"
        case .null: "may be null now, which is refused by \(readers); leave it out instead"
        case .value(let value): "may be \(value) now, which is unknown to \(readers); update the receivers first"
        case .form(let writes, let reads):
            "\(writes) now, but read as \(reads) by \(readers); give the new form a name of its own"
        }
    }

    /// The finding for a receiver that has changed while the senders have not.
    func whenReceiving(from writers: String) -> String {
        switch self {
        case .missing: "needed now, but not sent by \(writers); make it optional"
        case .optional: "needed now, but may be left out by \(writers); make it optional"
        case .null: "null is refused now, but may be sent by \(writers); treat null as absent"
        case .value(let value): "\(value) is unknown now, but may be sent by \(writers); keep it"
        case .form(let writes, let reads):
            "read as \(reads) now, but \(writes) from \(writers); give the new form a name of its own"
        }
    }
}

extension MessageContract {
    /// The descriptions of the line and of all parts of the schemas, by their paths.
    fileprivate var leaves: [String: String] {
        var leaves = data.leaves("data").merging(answer.leaves("answer")) { first, _ in first }
        leaves["line"] = line.map { JSONValue.string($0).description }
        return leaves
    }
}

extension JSONSchema? {
    /// The descriptions of all parts of the schema, by their paths.
    func leaves(_ path: String) -> [String: String] {
        var leaves: [String: String] = [:]
        self?.collect(path, "", into: &leaves)
        return leaves
    }
}

extension JSONSchema {
    fileprivate func collect(_ path: String, _ suffix: String, into leaves: inout [String: String]) {
        leaves[path] = "\(self)\(suffix)"
        switch self {
        case .array(let elements): elements.collect("\(path)[]", "", into: &leaves)
        case .map(let members): members.collect("\(path).*", "", into: &leaves)
        case .nullable(let schema): schema.collect(path, " or null\(suffix)", into: &leaves)
        case .object(let members):
            for (name, member) in members {
                member.schema.collect("\(path).\(name)", member.isRequired ? "" : ", optional", into: &leaves)
            }
        default: break
        }
    }
}
