import FocusPlayerProgram
import ServiceRuntime

@main
struct FocusPlayer {
    static func main() async { await FocusPlayerCommand.runProgram() }
}
