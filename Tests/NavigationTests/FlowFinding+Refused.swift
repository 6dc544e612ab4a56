import Navigation

extension FlowFinding {
    /// What is wrong with a flow; nothing when it can be made.
    static func refused(_ make: () throws(FlowError) -> Flow) -> [FlowFinding] {
        do throws(FlowError) {
            _ = try make()
            return []
        } catch {
            return error.findings
        }
    }
}
