/// Data that an app shows by dispatching it, instead of by naming a screen.
///
///     struct RouteModel: Dispatchable {
///         var fromStationCode: String
///         var toStationCode: String
///
///         static var change: DispatchChange {
///             .modal(
///                 "route", inStack: true, identifiers: [CodingKeys.fromStationCode, .toStationCode],
///                 viewModel: RouteViewModel.self)
///         }
///     }
public protocol Dispatchable: Hashable, Codable, Sendable {
    /// What rules of a flow know it by; the type's own name unless said.
    static var dispatchName: String { get }
    /// How it is shown.
    static var change: DispatchChange { get }
}

extension Dispatchable {
    public static var dispatchName: String { String(describing: Self.self) }
}
