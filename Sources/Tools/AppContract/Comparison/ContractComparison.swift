internal import Contracts
internal import EventBus
internal import MessageSchema

/// What has changed between two contracts of an app.
///
/// Messages are kept, and services are not all replaced at once. So what a service sends now must suit whoever received
/// it before, and what it receives now must suit what others sent before. Whoever handles a command or answers a query
/// offers that to anybody, also to those that the contract does not know; likewise whoever tells an event, an error or
/// a document.
package struct ContractComparison {
    private let old: AppContract
    private let new: AppContract

    package init(from old: AppContract, to new: AppContract) {
        self.old = old
        self.new = new
    }

    /// By message and place, those that break something first.
    package var findings: [ContractFinding] {
        let types = Set(old.types + new.types).sorted { $0.description < $1.description }
        return types.flatMap { type in
            let breaking = removal(of: type) ?? changes(of: type)
            return breaking + compatible(type, but: breaking)
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
            findings += sending(type, former.data, present.data, to: formerReaders.named("others"))
        }
        if !new.receivers(of: type).isEmpty {
            // What has another form altogether suits neither side; once is enough.
            let told = Set(findings.map(\.path))
            if !formerWriters.isEmpty || type.isRequest {
                findings += receiving(type, former.data, present.data, from: formerWriters.named("others"))
                    .filter { !told.contains($0.path) }
            }
            findings += sending(type, former.answer, present.answer, to: formerWriters.named("others"), "answer")
        }
        return findings
    }

    /// What is sent now, as those read it who knew the former schema.
    private func sending(
        _ type: MessageType, _ former: JSONSchema?, _ present: JSONSchema?, to readers: String, _ root: String = "data"
    ) -> [ContractFinding] {
        guard let former, let present else { return [] }
        return former.clashes(readingFrom: present, at: root).map { clash in
            finding(type, clash.reason.whenSending(to: readers), at: clash.path)
        }
    }

    /// What is received now, from those who knew the former schema.
    private func receiving(
        _ type: MessageType, _ former: JSONSchema?, _ present: JSONSchema?, from writers: String
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

    /// What else is different.
    private func compatible(_ type: MessageType, but breaking: [ContractFinding]) -> [ContractFinding] {
        guard let present = new.messages[type] else {
            return breaking.isEmpty ? [finding(type, "gone; nobody relied on it", isBreaking: false)] : []
        }
        guard let former = old.messages[type] else { return [finding(type, "new", isBreaking: false)] }
        let before = former.data.leaves("data").merging(former.answer.leaves("answer")) { first, _ in first }
        let after = present.data.leaves("data").merging(present.answer.leaves("answer")) { first, _ in first }
        let told = Set(breaking.map(\.path))
        return Set(before.keys).union(after.keys).subtracting(told.compactMap(\.self)).sorted().compactMap { path in
            guard !told.contains(nil), before[path] != after[path] else { return nil }
            let change =
                switch (before[path], after[path]) {
                case (let was?, let isNow?): "was \(was), is \(isNow)"
                case (nil, let isNow?): "new, \(isNow)"
                default: "gone"
                }
            return finding(type, change, at: path, isBreaking: false)
        }
    }
}

extension MessageType {
    /// Whether it asks something of whoever receives it, instead of telling.
    fileprivate var isRequest: Bool { kind == .command || kind == .query }
}

extension [String] {
    /// As people list names; `nobody` where there are none.
    fileprivate func named(_ nobody: String) -> String {
        switch count {
        case 0: nobody
        case 1: self[0]
        default: dropLast().joined(separator: ", ") + " and " + self[count - 1]
        }
    }
}
