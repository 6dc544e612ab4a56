public import EventBus
public import Navigation

extension Document {
    /// Where one platform of a session is. Its JSON is that of the snapshot.
    public struct NavigationState: DocumentMessage {
        public var snapshot: NavigationSnapshot

        public init(_ snapshot: NavigationSnapshot) {
            self.snapshot = snapshot
        }

        public var key: String? { snapshot.platform }

        public init(from decoder: any Decoder) throws {
            snapshot = try NavigationSnapshot(from: decoder)
        }

        public func encode(to encoder: any Encoder) throws {
            try snapshot.encode(to: encoder)
        }
    }
}
