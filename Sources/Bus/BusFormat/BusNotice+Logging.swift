package import EventBus
package import Logging

extension Logger {
    /// Logs a notice with the level of its severity.
    package func log(_ notice: BusNotice) {
        let level: Logger.Level =
            switch notice.severity {
            case .error: .error
            case .warning: .warning
            case .information: .notice
            }
        log(level: level, "\(notice.message)", metadata: ["code": "\(notice.code.rawValue)"])
    }
}
