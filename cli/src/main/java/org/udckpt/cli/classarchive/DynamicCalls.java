package org.udckpt.cli.classarchive;

import static java.lang.constant.ConstantDescs.CD_Boolean;
import static java.lang.constant.ConstantDescs.CD_Byte;
import static java.lang.constant.ConstantDescs.CD_Character;
import static java.lang.constant.ConstantDescs.CD_Double;
import static java.lang.constant.ConstantDescs.CD_Float;
import static java.lang.constant.ConstantDescs.CD_Integer;
import static java.lang.constant.ConstantDescs.CD_Long;
import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_Short;
import static java.lang.constant.ConstantDescs.CD_String;
import static java.lang.constant.ConstantDescs.CD_boolean;
import static java.lang.constant.ConstantDescs.CD_int;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.Opcode;
import java.lang.classfile.constantpool.InvokeDynamicEntry;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDesc;
import java.lang.constant.DirectMethodHandleDesc;
import java.lang.constant.DynamicCallSiteDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.reflect.AccessFlag;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Makes methods of what compilers leave to be linked at run time: choosing by type or text in a switch
 * (java.lang.runtime.SwitchBootstraps), and hashCode and equals of records (java.lang.runtime.ObjectMethods). An
 * archive of classes holds what lambdas and joined texts were linked to, but not those (JDK 25): for each of them a JVM
 * writes a class when it comes there first, which takes a young one 0.5 to 5 ms, 40 of them before the first
 * instruction of a restarted job.
 */
final class DynamicCalls {
    private static final String SWITCHES = "java.lang.runtime.SwitchBootstraps";
    private static final String RECORDS = "java.lang.runtime.ObjectMethods";
    private static final ClassDesc OBJECTS = ClassDesc.of("java.util.Objects");
    private static final int FLAGS = ClassFile.ACC_PRIVATE | ClassFile.ACC_STATIC | ClassFile.ACC_SYNTHETIC;
    /** Of the sum over a record's components, as in ObjectMethods. */
    private static final int FACTOR = 31;

    private record Made(String name, MethodTypeDesc type, Consumer<CodeBuilder> code) {}

    private DynamicCalls() {}

    /**
     * False: there is none in it (any more).
     *
     * @param tool knows the classes of the jar and those that it names
     */
    static boolean replace(Path jar, ClassFile tool) throws IOException {
        return JarChange.apply(jar, bytes -> replace(tool, bytes));
    }

    /** Null: as it is. */
    static byte[] replace(ClassFile tool, byte[] bytes) {
        ClassModel model = tool.parse(bytes);
        Map<Integer, Made> made = made(model);
        if (made.isEmpty()) {
            return null;
        }
        ClassDesc owner = model.thisClass().asSymbol();
        boolean isInterface = model.flags().has(AccessFlag.INTERFACE);
        return tool.transformClass(model, ClassTransform
                .transformingMethodBodies(method -> hasOne(method, made), (builder, element) -> {
                    Made call = called(element, made);
                    if (call == null) {
                        builder.with(element);
                    } else {
                        builder.invoke(Opcode.INVOKESTATIC, owner, call.name, call.type, isInterface);
                    }
                })
                .andThen(ClassTransform.endHandler(builder -> made.values()
                        .forEach(method -> builder.withMethodBody(method.name, method.type, FLAGS, method.code)))));
    }

    /** By the index of the call's constant. */
    private static Map<Integer, Made> made(ClassModel model) {
        Map<Integer, Made> all = new LinkedHashMap<>();
        model.methods().stream().flatMap(method -> method.code().stream()).flatMap(CodeModel::elementStream)
                .forEach(element -> {
                    if (element instanceof InvokeDynamicInstruction instruction) {
                        InvokeDynamicEntry call = instruction.invokedynamic();
                        Consumer<CodeBuilder> code = code(call.asSymbol());
                        if (code != null) {
                            all.computeIfAbsent(call.index(), _ -> new Made(call.name().stringValue() + "$"
                                    + all.size(), call.typeSymbol(), code));
                        }
                    }
                });
        return all;
    }

    private static boolean hasOne(MethodModel method, Map<Integer, Made> made) {
        CodeModel code = method.code().orElse(null);
        return code != null && code.elementStream().anyMatch(element -> called(element, made) != null);
    }

    private static Made called(CodeElement element, Map<Integer, Made> made) {
        return element instanceof InvokeDynamicInstruction call ? made.get(call.invokedynamic().index()) : null;
    }

    /** Null: it stays dynamic. */
    private static Consumer<CodeBuilder> code(DynamicCallSiteDesc call) {
        DirectMethodHandleDesc linker = (DirectMethodHandleDesc) call.bootstrapMethod();
        List<ConstantDesc> arguments = List.of(call.bootstrapArgs());
        String name = call.invocationName();
        return switch (linker.owner().packageName() + "." + linker.owner().displayName()) {
            case SWITCHES -> linker.methodName().equals("typeSwitch")
                    && arguments.stream().allMatch(DynamicCalls::isPlain) ? code -> choose(code, arguments) : null;
            case RECORDS -> switch (name) {
                case "hashCode" -> code -> hash(code, components(arguments));
                case "equals" -> code -> compare(code, (ClassDesc) arguments.getFirst(), components(arguments));
                default -> null; // a text is made for people
            };
            default -> null;
        };
    }

    /** Else a number, or a constant of an enum. */
    private static boolean isPlain(ConstantDesc label) {
        return label instanceof String || label instanceof ClassDesc type && !type.isPrimitive();
    }

    private static List<DirectMethodHandleDesc> components(List<ConstantDesc> arguments) {
        return arguments.stream().skip(2).map(DirectMethodHandleDesc.class::cast).toList(); // the class and the names
    }

    /** (object, first label to look at): the label's number, how many there are if none fits, -1 for null. */
    private static void choose(CodeBuilder code, List<ConstantDesc> labels) {
        var notNull = code.newLabel();
        code.aload(0).ifnonnull(notNull).loadConstant(-1).ireturn().labelBinding(notNull);
        for (int i = 0; i < labels.size(); i++) {
            var next = code.newLabel();
            code.iload(1).loadConstant(i).if_icmpgt(next);
            if (labels.get(i) instanceof ClassDesc type) {
                code.aload(0).instanceOf(type);
            } else {
                code.loadConstant(labels.get(i)).aload(0).invokevirtual(CD_String, "equals",
                        MethodTypeDesc.of(CD_boolean, CD_Object));
            }
            code.ifeq(next).loadConstant(i).ireturn().labelBinding(next);
        }
        code.loadConstant(labels.size()).ireturn();
    }

    /** (record): the same number as ObjectMethods has. */
    private static void hash(CodeBuilder code, List<DirectMethodHandleDesc> components) {
        code.loadConstant(0);
        for (DirectMethodHandleDesc component : components) {
            code.loadConstant(FACTOR).imul();
            ClassDesc type = field(code.aload(0), component);
            if (type.isPrimitive()) {
                code.invokestatic(box(type), "hashCode", MethodTypeDesc.of(CD_int, type));
            } else {
                code.invokestatic(OBJECTS, "hashCode",
                        MethodTypeDesc.of(CD_int, CD_Object));
            }
            code.iadd();
        }
        code.ireturn();
    }

    /** (record, object): whether it is one with the same components. */
    private static void compare(CodeBuilder code, ClassDesc record, List<DirectMethodHandleDesc> components) {
        var other = code.newLabel();
        code.aload(1).instanceOf(record).ifeq(other).aload(1).checkcast(record).astore(2);
        for (DirectMethodHandleDesc component : components) {
            field(code.aload(0), component);
            ClassDesc type = field(code.aload(2), component);
            if (type.isPrimitive()) {
                code.invokestatic(box(type), "compare", MethodTypeDesc.of(CD_int, type, type)).ifne(other);
            } else {
                code.invokestatic(OBJECTS, "equals", MethodTypeDesc.of(CD_boolean,
                        CD_Object, CD_Object))
                        .ifeq(other);
            }
        }
        code.iconst_1().ireturn().labelBinding(other).iconst_0().ireturn();
    }

    private static ClassDesc field(CodeBuilder code, DirectMethodHandleDesc getter) {
        ClassDesc type = getter.invocationType().returnType();
        code.getfield(getter.owner(), getter.methodName(), type);
        return type;
    }

    private static ClassDesc box(ClassDesc primitive) {
        return switch (primitive.descriptorString()) {
            case "Z" -> CD_Boolean;
            case "B" -> CD_Byte;
            case "C" -> CD_Character;
            case "S" -> CD_Short;
            case "I" -> CD_Integer;
            case "J" -> CD_Long;
            case "F" -> CD_Float;
            default -> CD_Double;
        };
    }
}
