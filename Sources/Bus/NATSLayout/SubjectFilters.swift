package import EventBus

/// The subjects of batches that can contain a message which one of several filters selects.
///
/// JetStream selects whole batches by subject, so it sends more messages than the filters select: the other messages of
/// a batch, and those of other subjects in the same ``Bucket``. The client filters them again.
///
/// JetStream refuses a consumer if two of its filters match a common subject. Here no two do.
package struct SubjectFilters: Hashable, Sendable {
    /// The maximum number of filters of one JetStream consumer. With more, the filters select more messages than
    /// needed.
    package static let capacity = 64

    private let patterns: [Pattern]

    /// - Parameter partitions: Only messages of these partitions are needed; nil for all partitions.
    package init(_ filters: [MessageFilter], partitions: Set<Partition>? = nil) {
        let all = Pattern(type: .any, place: .any)
        let partitions = partitions.flatMap { $0.count < Partition.count ? $0 : nil }
        // Each attempt asks the server for less precision than the one before.
        let attempts: [() -> [Pattern]] = [
            { filters.flatMap { Pattern.patterns(of: $0, in: partitions) } },
            { filters.flatMap { Pattern.patterns(of: $0, in: nil) } },
            { filters.flatMap { Pattern.patterns(of: $0.with(subject: nil), in: nil) } },
            { filters.flatMap { Pattern.patterns(of: $0.kind.map { .kind($0) } ?? .all, in: nil) } },
        ]
        patterns =
            attempts.lazy.map { Self.disjoint($0()) }.first { $0.count <= Self.capacity } ?? [all]
    }

    /// The filters of a JetStream consumer, in alphabetical order. Empty if there was no filter.
    package func texts(in namespace: String) -> [String] {
        patterns.map { $0.text(in: namespace) }.sorted()
    }

    /// Two patterns with a common subject: in each part, one of them contains the other. So they can be replaced by the
    /// pattern that has the larger part of both, which adds nothing if one pattern contains the other.
    private static func disjoint(_ patterns: [Pattern]) -> [Pattern] {
        var result: [Pattern] = []
        var rest = Set(patterns)
        while var pattern = rest.popFirst() {
            while let index = result.firstIndex(where: { $0.overlaps(pattern) }) {
                pattern = pattern.union(result.remove(at: index))
            }
            result.append(pattern)
        }
        return result
    }
}

extension SubjectFilters {
    /// A subject of batches with wildcards.
    fileprivate struct Pattern: Hashable, Sendable {
        let type: Part<MessageTokens.TypePart>
        let place: Part<MessageTokens.PlacePart>

        /// The batches that can contain a message that a filter selects.
        static func patterns(of filter: MessageFilter, in partitions: Set<Partition>?) -> [Pattern] {
            let types: [Part<MessageTokens.TypePart>] =
                switch filter {
                case .all, .subject: [.any]
                case .kind(let kind, _): [.group(kind), .exact(.mixed)]
                case .type(let type, _): [.exact(.type(type)), .exact(.kind(type.kind)), .exact(.mixed)]
                }
            let places: [Part<MessageTokens.PlacePart>]
            if let subject = filter.subject {
                let bucket = Bucket(subject: subject)
                if let partitions, !partitions.contains(bucket.partition) { return [] }
                places = [.exact(.bucket(bucket)), .exact(.partition(bucket.partition)), .exact(.mixed)]
            } else if let partitions {
                guard !partitions.isEmpty else { return [] }
                places = partitions.map { .group($0) } + [.exact(.mixed)]
            } else {
                places = [.any]
            }
            return types.flatMap { type in places.map { Pattern(type: type, place: $0) } }
        }

        func overlaps(_ other: Pattern) -> Bool {
            type.larger(other.type) != nil && place.larger(other.place) != nil
        }

        /// The smallest pattern that contains two patterns which overlap.
        func union(_ other: Pattern) -> Pattern {
            Pattern(type: type.larger(other.type) ?? .any, place: place.larger(other.place) ?? .any)
        }

        func text(in namespace: String) -> String {
            let batches = "\(namespace).m"
            if type == .any, place == .any { return "\(batches).>" }
            let types =
                switch type {
                case .any: "*.*"
                case .group(let kind): "\(kind.rawValue).*"
                case .exact(.type(let type)): "\(type.kind.rawValue).\(SubjectToken.encode(type.name))"
                case .exact(.kind(let kind)): "\(kind.rawValue).+"
                case .exact(.mixed), .exact(.none): "+.+"
                }
            let places =
                switch place {
                case .any: "*.*"
                case .group(let partition): "\(partition.token).*"
                case .exact(.bucket(let bucket)): "\(bucket.partition.token).\(SubjectToken.hexadecimal(bucket.number))"
                case .exact(.partition(let partition)): "\(partition.token).+"
                case .exact(.mixed), .exact(.none): "+.+"
                }
            return "\(batches).*.*.\(types).\(places)"
        }
    }

    /// A part of a pattern: everything, one group with all its members, or one value.
    fileprivate enum Part<Value: GroupedValue>: Hashable, Sendable {
        case any
        case group(Value.Group)
        case exact(Value)

        /// The part that contains the other one; nil if they have nothing in common.
        func larger(_ other: Self) -> Self? {
            switch (self, other) {
            case (.any, _), (_, .any): .any
            case (.group(let group), .exact(let value)): value.group == group ? self : nil
            case (.exact(let value), .group(let group)): value.group == group ? other : nil
            default: self == other ? self : nil
            }
        }
    }
}

/// A value that belongs to a group: a type to its kind, a bucket to its partition.
private protocol GroupedValue: Hashable, Sendable {
    associatedtype Group: Hashable, Sendable
    /// Nil for a value that belongs to no group.
    var group: Group? { get }
}

extension MessageTokens.TypePart: GroupedValue {
    fileprivate var group: MessageKind? {
        switch self {
        case .type(let type): type.kind
        case .kind(let kind): kind
        case .mixed, .none: nil
        }
    }
}

extension MessageTokens.PlacePart: GroupedValue {
    fileprivate var group: Partition? {
        switch self {
        case .bucket(let bucket): bucket.partition
        case .partition(let partition): partition
        case .mixed, .none: nil
        }
    }
}
