/// The commands; each is a struct inside, on the wire `command.Name`.
public enum Command {}

/// The domain events; each is a struct inside, on the wire `event.Name`.
public enum DomainEvent {}

/// The documents; each is a struct inside, on the wire `document.Name`.
public enum Document {}

/// The queries; each is a struct inside, on the wire `query.Name`.
public enum Query {}
