import PlatformPrograms
import ServiceRuntime

@main
struct ErrorNotifier {
    static func main() async { await ErrorNotifierCommand.runProgram() }
}
