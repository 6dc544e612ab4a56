internal import Contracts

extension ApplicationError.Severity {
    /// How long a banner stays: long enough to read two lines, longer where something has to be done.
    var displayTime: Duration {
        switch self {
        case .info: .seconds(4)
        case .warning: .seconds(7)
        case .error: .seconds(10)
        }
    }
}
