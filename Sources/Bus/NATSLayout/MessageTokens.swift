package import EventBus
internal import Support

/// The part of a batch's subject that is made from its messages: `KIND.NAME.PP.BB`.
///
/// A part on which the messages of the batch do not agree is `+`; in a batch without messages every part is `-`.
package struct MessageTokens: Hashable, Sendable {
    package enum TypePart: Hashable, Sendable {
        case type(MessageType)
        /// The messages have one kind and several names.
        case kind(MessageKind)
        /// The messages have several kinds.
        case mixed
        case none
    }

    package enum PlacePart: Hashable, Sendable {
        case bucket(Bucket)
        /// The messages have one partition and several buckets.
        case partition(Partition)
        /// The messages have several partitions.
        case mixed
        case none
    }

    package let type: TypePart
    package let place: PlacePart

    private init(type: TypePart, place: PlacePart) {
        self.type = type
        self.place = place
    }

    /// Messages of any types and subjects.
    package static let mixed = MessageTokens(type: .mixed, place: .mixed)
    /// No messages.
    package static let none = MessageTokens(type: .none, place: .none)

    package init(_ type: MessageType, subject: String) {
        self.init(type: .type(type), place: .bucket(Bucket(subject: subject)))
    }

    package init(of messages: some Sequence<Envelope>) {
        var tokens = Self.none
        var last: (type: MessageType, subject: String)?
        for message in messages {
            // Most batches have only one type and subject.
            if let last, last.type == message.type, last.subject == message.subject { continue }
            last = (message.type, message.subject)
            tokens = tokens.merged(with: MessageTokens(message.type, subject: message.subject))
        }
        self = tokens
    }

    /// The tokens of a batch that has the messages of two batches.
    package func merged(with other: MessageTokens) -> MessageTokens {
        MessageTokens(type: type.merged(with: other.type), place: place.merged(with: other.place))
    }

    package var text: String {
        let (kind, name) =
            switch type {
            case .type(let type): (type.kind.rawValue, SubjectToken.encode(type.name))
            case .kind(let kind): (kind.rawValue, "+")
            case .mixed: ("+", "+")
            case .none: ("-", "-")
            }
        let (partition, bucket) =
            switch place {
            case .bucket(let bucket):
                (SubjectToken.hexadecimal(bucket.partition.number), SubjectToken.hexadecimal(bucket.number))
            case .partition(let partition): (SubjectToken.hexadecimal(partition.number), "+")
            case .mixed: ("+", "+")
            case .none: ("-", "-")
            }
        return "\(kind).\(name).\(partition).\(bucket)"
    }

    /// Reads four tokens. Nil if they are not the tokens of any batch.
    init?(_ tokens: ArraySlice<Substring>) {
        guard tokens.count == 4 else { return nil }
        let parts = Array(tokens)
        switch (parts[0], parts[1]) {
        case ("-", "-"): type = .none
        case ("+", "+"): type = .mixed
        case (let kind, let name):
            guard let kind = MessageKind(rawValue: String(kind)) else { return nil }
            if name == "+" {
                type = .kind(kind)
            } else {
                guard let name = SubjectToken.decode(name), case let type = MessageType(kind: kind, name: name),
                    type.isValid
                else { return nil }
                self.type = .type(type)
            }
        }
        switch (parts[2], parts[3]) {
        case ("-", "-"): place = .none
        case ("+", "+"): place = .mixed
        case (let partition, let bucket):
            guard let partition = Partition(token: partition) else { return nil }
            if bucket == "+" {
                place = .partition(partition)
            } else {
                guard let bucket = SubjectToken.byte(hexadecimal: bucket).flatMap({ Bucket(partition, $0) }) else {
                    return nil
                }
                place = .bucket(bucket)
            }
        }
        guard (type == .none) == (place == .none) else { return nil }
    }
}

extension MessageTokens.TypePart {
    fileprivate func merged(with other: Self) -> Self {
        if self == other || other == .none { return self }
        if self == .none { return other }
        guard let kind, kind == other.kind else { return .mixed }
        return .kind(kind)
    }

    private var kind: MessageKind? {
        switch self {
        case .type(let type): type.kind
        case .kind(let kind): kind
        case .mixed, .none: nil
        }
    }
}

extension MessageTokens.PlacePart {
    fileprivate func merged(with other: Self) -> Self {
        if self == other || other == .none { return self }
        if self == .none { return other }
        guard let partition, partition == other.partition else { return .mixed }
        return .partition(partition)
    }

    private var partition: Partition? {
        switch self {
        case .bucket(let bucket): bucket.partition
        case .partition(let partition): partition
        case .mixed, .none: nil
        }
    }
}

/// One of 4,096 groups of subjects, so that the server can select the messages of a few subjects: the partition, and
/// the next 6 bits of the same hash.
package struct Bucket: Hashable, Sendable {
    package static let countInPartition: UInt8 = 64

    package let partition: Partition
    /// Less than ``countInPartition``.
    package let number: UInt8

    package init(subject: String) {
        var hash = FNV1a()
        hash.combine(subject)
        partition = Partition(subject: subject)
        number = UInt8(truncatingIfNeeded: hash.value >> 6) % Self.countInPartition
    }

    /// Nil unless `number` is less than ``countInPartition``.
    package init?(_ partition: Partition, _ number: UInt8) {
        guard number < Self.countInPartition else { return nil }
        self.partition = partition
        self.number = number
    }
}

extension Partition {
    /// Reads two hexadecimal digits.
    init?(token: Substring) {
        guard let number = SubjectToken.byte(hexadecimal: token), let partition = Partition(number) else { return nil }
        self = partition
    }

    var token: String { SubjectToken.hexadecimal(number) }
}
