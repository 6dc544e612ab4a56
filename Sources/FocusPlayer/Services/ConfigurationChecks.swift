internal import ServiceRuntime

/// Reads settings and collects every mistake on the way, instead of stopping at the first.
struct ConfigurationChecks {
    private let configuration: ServiceConfiguration
    private(set) var errors: [ConfigurationError] = []

    init(_ configuration: ServiceConfiguration) {
        self.configuration = configuration
    }

    /// - Returns: nil if it cannot be read; then the error is kept.
    mutating func value<Value>(_ read: (ServiceConfiguration) throws -> Value) throws -> Value? {
        do {
            return try read(configuration)
        } catch let error as ConfigurationError {
            // One variable may stand behind several settings.
            if !errors.contains(error) { errors.append(error) }
            return nil
        }
    }
}
