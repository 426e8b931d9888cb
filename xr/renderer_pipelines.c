/* One table of pipelines: shaders, vertices, blending, depth. */
#include "xr/renderer_parts_internal.h"

#include <stddef.h>

#include <sac_shaders.h>

typedef enum vertices { NO_VERTICES, MESHES, SKINS, BALLS, LINES, QUADS } vertices;

/* SPIR-V. */
typedef struct code {
    const uint32_t *words;
    size_t size;
} code;

typedef struct recipe {
    code vertex[2], fragment[2]; /* view from a push constant, from multiview; no fragment: depth only */
    vertices vertices;
    bool strip, blend, write_depth, cull, shadow, soft; /* soft: alpha is the share of samples covered */
    VkCompareOp depth;
} recipe;

#define CODE(name)                                  \
    {                                               \
        sac_shader_##name, sizeof sac_shader_##name \
    }
#define STAGES(v, f)                                      \
    .vertex = {CODE(v##_vert), CODE(v##_vert_multiview)}, \
    .fragment = {CODE(f##_frag), CODE(f##_frag_multiview)}

/* Depth is 1 at the near plane and 0 at infinity. */
static const recipe recipes[SAC_PIPES] = {
    [SAC_PIPE_MESH] = {STAGES(mesh, mesh), MESHES, .write_depth = true, .cull = true,
                       .depth = VK_COMPARE_OP_GREATER},
    [SAC_PIPE_GHOST] = {STAGES(mesh, mesh), MESHES, .blend = true, .cull = true,
                        .depth = VK_COMPARE_OP_GREATER},
    [SAC_PIPE_SKIN] = {STAGES(skin, skin), SKINS, .write_depth = true, .cull = true,
                       .depth = VK_COMPARE_OP_GREATER},
    [SAC_PIPE_SKIN_GHOST] = {STAGES(skin, skin), SKINS, .blend = true, .cull = true,
                             .depth = VK_COMPARE_OP_GREATER},
    [SAC_PIPE_BALL] = {STAGES(ball, ball), BALLS, .strip = true, .soft = true, .write_depth = true,
                       .depth = VK_COMPARE_OP_GREATER},
    [SAC_PIPE_BUBBLE] = {STAGES(ball, bubble), BALLS, .strip = true, .blend = true,
                         .depth = VK_COMPARE_OP_GREATER},
    [SAC_PIPE_GROUND] = {STAGES(ground, ground), .strip = true, .write_depth = true,
                         .depth = VK_COMPARE_OP_GREATER},
    [SAC_PIPE_SKY] = {STAGES(sky, sky), .depth = VK_COMPARE_OP_EQUAL},
    [SAC_PIPE_LINE] = {STAGES(line, line), LINES, .strip = true, .blend = true,
                       .depth = VK_COMPARE_OP_GREATER},
    [SAC_PIPE_PANEL] = {STAGES(panel, panel), QUADS, .strip = true, .blend = true,
                        .depth = VK_COMPARE_OP_GREATER},
    [SAC_PIPE_SCREEN_PANEL] = {STAGES(panel, panel), QUADS, .strip = true, .blend = true,
                               .depth = VK_COMPARE_OP_ALWAYS},
    [SAC_PIPE_SHADOW_MESH] = {.vertex = {CODE(shadow_vert)},
                              .vertices = MESHES,
                              .write_depth = true,
                              .cull = true,
                              .shadow = true,
                              .depth = VK_COMPARE_OP_LESS},
    [SAC_PIPE_SHADOW_SKIN] = {.vertex = {CODE(shadow_skin_vert)},
                              .vertices = SKINS,
                              .write_depth = true,
                              .cull = true,
                              .shadow = true,
                              .depth = VK_COMPARE_OP_LESS},
    [SAC_PIPE_SHADOW_BALL] = {.vertex = {CODE(shadow_ball_vert)},
                              .fragment = {CODE(shadow_ball_frag)},
                              .vertices = BALLS,
                              .strip = true,
                              .write_depth = true,
                              .shadow = true,
                              .depth = VK_COMPARE_OP_LESS},
};

static const VkVertexInputBindingDescription mesh_bindings[] = {
    {0, sizeof(sac_gallery_vertex), VK_VERTEX_INPUT_RATE_VERTEX},
    {1, sizeof(sac_instance), VK_VERTEX_INPUT_RATE_INSTANCE},
};
static const VkVertexInputAttributeDescription mesh_attributes[] = {
    {0, 0, VK_FORMAT_R32G32B32_SFLOAT, offsetof(sac_gallery_vertex, position)},
    {1, 0, VK_FORMAT_R32G32B32_SFLOAT, offsetof(sac_gallery_vertex, normal)},
    {2, 1, VK_FORMAT_R32G32B32A32_SFLOAT, offsetof(sac_instance, rotation)},
    {3, 1, VK_FORMAT_R32G32B32A32_SFLOAT, offsetof(sac_instance, position)},
    {4, 1, VK_FORMAT_R8G8B8A8_UNORM, offsetof(sac_instance, colour)},
    {5, 1, VK_FORMAT_R32G32_SFLOAT, offsetof(sac_instance, gloss)},
};
/* The shadow needs the place only; an attribute nobody reads earns a warning. */
static const VkVertexInputAttributeDescription shadow_attributes[] = {
    {0, 0, VK_FORMAT_R32G32B32_SFLOAT, offsetof(sac_gallery_vertex, position)},
    {2, 1, VK_FORMAT_R32G32B32A32_SFLOAT, offsetof(sac_instance, rotation)},
    {3, 1, VK_FORMAT_R32G32B32A32_SFLOAT, offsetof(sac_instance, position)},
};

static const VkVertexInputBindingDescription skin_bindings[] = {
    {0, sizeof(sac_gallery_skin_vertex), VK_VERTEX_INPUT_RATE_VERTEX},
    {1, sizeof(sac_skinned), VK_VERTEX_INPUT_RATE_INSTANCE},
};
/* What the shadow does without comes last. */
static const VkVertexInputAttributeDescription skin_attributes[] = {
    {0, 0, VK_FORMAT_R32G32B32_SFLOAT, offsetof(sac_gallery_skin_vertex, position)},
    {2, 0, VK_FORMAT_R32G32B32A32_UINT, offsetof(sac_gallery_skin_vertex, joints)},
    {3, 0, VK_FORMAT_R32G32B32A32_UINT, offsetof(sac_gallery_skin_vertex, joints[4])},
    {4, 0, VK_FORMAT_R16G16B16A16_UNORM, offsetof(sac_gallery_skin_vertex, weights)},
    {5, 0, VK_FORMAT_R16G16B16A16_UNORM, offsetof(sac_gallery_skin_vertex, weights[4])},
    {6, 1, VK_FORMAT_R32G32B32_SFLOAT, offsetof(sac_skinned, origin)},
    {7, 1, VK_FORMAT_R32_UINT, offsetof(sac_skinned, first_joint)},
    {1, 0, VK_FORMAT_R32G32B32_SFLOAT, offsetof(sac_gallery_skin_vertex, normal)},
    {8, 1, VK_FORMAT_R8G8B8A8_UNORM, offsetof(sac_skinned, colour)},
    {9, 1, VK_FORMAT_R32G32_SFLOAT, offsetof(sac_skinned, gloss)},
    {10, 0, VK_FORMAT_R8G8B8A8_UNORM, offsetof(sac_gallery_skin_vertex, colour)},
};

static const VkVertexInputBindingDescription ball_bindings[] = {
    {0, sizeof(sac_ball), VK_VERTEX_INPUT_RATE_INSTANCE},
};
static const VkVertexInputAttributeDescription ball_attributes[] = {
    {0, 0, VK_FORMAT_R32G32B32A32_SFLOAT, offsetof(sac_ball, centre)},
    {1, 0, VK_FORMAT_R8G8B8A8_UNORM, offsetof(sac_ball, colour)},
};
static const VkVertexInputBindingDescription line_bindings[] = {
    {0, sizeof(sac_line), VK_VERTEX_INPUT_RATE_INSTANCE},
};
static const VkVertexInputAttributeDescription line_attributes[] = {
    {0, 0, VK_FORMAT_R32G32B32_SFLOAT, offsetof(sac_line, from)},
    {1, 0, VK_FORMAT_R8G8B8A8_UNORM, offsetof(sac_line, colour)},
    {2, 0, VK_FORMAT_R32G32B32_SFLOAT, offsetof(sac_line, to)},
    {3, 0, VK_FORMAT_R32_SFLOAT, offsetof(sac_line, width)},
};
static const VkVertexInputBindingDescription quad_bindings[] = {
    {0, sizeof(sac_canvas_quad), VK_VERTEX_INPUT_RATE_INSTANCE},
};
static const VkVertexInputAttributeDescription quad_attributes[] = {
    {0, 0, VK_FORMAT_R32G32B32A32_SFLOAT, offsetof(sac_canvas_quad, x)},
    {1, 0, VK_FORMAT_R32G32B32A32_SFLOAT, offsetof(sac_canvas_quad, u)},
    {2, 0, VK_FORMAT_R32G32_SFLOAT, offsetof(sac_canvas_quad, ax)},
    {3, 0, VK_FORMAT_R8G8B8A8_UNORM, offsetof(sac_canvas_quad, colour)},
};

static VkPipelineVertexInputStateCreateInfo vertex_input(const recipe *r)
{
    VkPipelineVertexInputStateCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
    };
    switch (r->vertices) {
    case NO_VERTICES:
        break;
    case MESHES:
        info.vertexBindingDescriptionCount = 2;
        info.pVertexBindingDescriptions = mesh_bindings;
        info.vertexAttributeDescriptionCount = r->shadow ? 3 : 6;
        info.pVertexAttributeDescriptions = r->shadow ? shadow_attributes : mesh_attributes;
        break;
    case SKINS:
        info.vertexBindingDescriptionCount = 2;
        info.pVertexBindingDescriptions = skin_bindings;
        info.vertexAttributeDescriptionCount = r->shadow ? 7 : 11;
        info.pVertexAttributeDescriptions = skin_attributes;
        break;
    case BALLS:
        info.vertexBindingDescriptionCount = 1;
        info.pVertexBindingDescriptions = ball_bindings;
        info.vertexAttributeDescriptionCount = r->shadow ? 1 : 2;
        info.pVertexAttributeDescriptions = ball_attributes;
        break;
    case LINES:
        info.vertexBindingDescriptionCount = 1;
        info.pVertexBindingDescriptions = line_bindings;
        info.vertexAttributeDescriptionCount = 4;
        info.pVertexAttributeDescriptions = line_attributes;
        break;
    case QUADS:
        info.vertexBindingDescriptionCount = 1;
        info.pVertexBindingDescriptions = quad_bindings;
        info.vertexAttributeDescriptionCount = 4;
        info.pVertexAttributeDescriptions = quad_attributes;
        break;
    }
    return info;
}

sac_result sac_pipes_layout(const sac_gpu *gpu, sac_pipes *pipes, sac_error *error)
{
    const VkDescriptorSetLayoutBinding bindings[] = {
        {0, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 1, VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT,
         NULL},
        {1, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1, VK_SHADER_STAGE_FRAGMENT_BIT, NULL},
        {2, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1, VK_SHADER_STAGE_FRAGMENT_BIT, NULL},
        {3, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_VERTEX_BIT, NULL},
    };
    VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 4,
        .pBindings = bindings,
    };
    sac_result result =
        sac_gpu_failed(vkCreateDescriptorSetLayout(gpu->device, &set, NULL, &pipes->set_layout),
                       "describing what shaders read", error);
    if (result != SAC_OK) return result;
    VkPushConstantRange push = {SAC_PUSH_STAGES, 0, sizeof(sac_push)};
    VkPipelineLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &pipes->set_layout,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &push,
    };
    return sac_gpu_failed(vkCreatePipelineLayout(gpu->device, &info, NULL, &pipes->layout),
                          "describing what shaders read", error);
}

static sac_result make_module(const sac_gpu *gpu, const code *c, VkShaderModule *out, sac_error *error)
{
    VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = c->size,
        .pCode = c->words,
    };
    return sac_gpu_failed(vkCreateShaderModule(gpu->device, &info, NULL, out), "loading a shader", error);
}

static sac_result make_pipeline(const sac_gpu *gpu, const recipe *r, VkRenderPass pass, bool multiview,
                                VkSampleCountFlagBits samples, VkPipelineLayout layout, VkPipeline *out,
                                sac_error *error)
{
    VkShaderModule modules[2] = {VK_NULL_HANDLE, VK_NULL_HANDLE};
    const int multi = multiview && !r->shadow;
    sac_result result = make_module(gpu, &r->vertex[multi], &modules[0], error);
    if (result == SAC_OK && r->fragment[multi].words)
        result = make_module(gpu, &r->fragment[multi], &modules[1], error);
    const VkPipelineShaderStageCreateInfo stages[2] = {
        {
            .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
            .stage = VK_SHADER_STAGE_VERTEX_BIT,
            .module = modules[0],
            .pName = "main",
        },
        {
            .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
            .stage = VK_SHADER_STAGE_FRAGMENT_BIT,
            .module = modules[1],
            .pName = "main",
        },
    };
    VkPipelineVertexInputStateCreateInfo input = vertex_input(r);
    VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = r->strip ? VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP : VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
    };
    VkPipelineViewportStateCreateInfo viewport = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .scissorCount = 1,
    };
    VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
        .polygonMode = VK_POLYGON_MODE_FILL,
        /* The shadow map is seen from below, as it were: what faces the light runs clockwise there. */
        .cullMode = !r->cull    ? VK_CULL_MODE_NONE
                    : r->shadow ? VK_CULL_MODE_FRONT_BIT
                                : VK_CULL_MODE_BACK_BIT,
        .frontFace = VK_FRONT_FACE_COUNTER_CLOCKWISE,
        .depthBiasEnable = r->shadow,
        .depthBiasConstantFactor = 2,
        .depthBiasSlopeFactor = 1.5f,
        .lineWidth = 1,
    };
    VkPipelineMultisampleStateCreateInfo multisample = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = r->shadow ? VK_SAMPLE_COUNT_1_BIT : samples,
        .alphaToCoverageEnable = r->soft && samples > 1,
    };
    VkPipelineDepthStencilStateCreateInfo depth = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO,
        .depthTestEnable = VK_TRUE,
        .depthWriteEnable = r->write_depth,
        .depthCompareOp = r->depth,
    };
    /* Alpha stays at the 1 it was cleared to. */
    VkPipelineColorBlendAttachmentState blend = {
        .blendEnable = r->blend,
        .srcColorBlendFactor = VK_BLEND_FACTOR_SRC_ALPHA,
        .dstColorBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
        .colorBlendOp = VK_BLEND_OP_ADD,
        .srcAlphaBlendFactor = VK_BLEND_FACTOR_ONE,
        .dstAlphaBlendFactor = VK_BLEND_FACTOR_ZERO,
        .alphaBlendOp = VK_BLEND_OP_ADD,
        .colorWriteMask = VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT | VK_COLOR_COMPONENT_B_BIT,
    };
    VkPipelineColorBlendStateCreateInfo blends = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = r->shadow ? 0 : 1,
        .pAttachments = &blend,
    };
    const VkDynamicState dynamic[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
    VkPipelineDynamicStateCreateInfo dynamics = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO,
        .dynamicStateCount = 2,
        .pDynamicStates = dynamic,
    };
    VkGraphicsPipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
        .stageCount = r->fragment[multi].words ? 2 : 1,
        .pStages = stages,
        .pVertexInputState = &input,
        .pInputAssemblyState = &assembly,
        .pViewportState = &viewport,
        .pRasterizationState = &raster,
        .pMultisampleState = &multisample,
        .pDepthStencilState = &depth,
        .pColorBlendState = &blends,
        .pDynamicState = &dynamics,
        .layout = layout,
        .renderPass = pass,
        .basePipelineIndex = -1,
    };
    if (result == SAC_OK)
        result = sac_gpu_failed(vkCreateGraphicsPipelines(gpu->device, VK_NULL_HANDLE, 1, &info, NULL, out),
                                "making a pipeline", error);
    vkDestroyShaderModule(gpu->device, modules[0], NULL);
    vkDestroyShaderModule(gpu->device, modules[1], NULL);
    return result;
}

sac_result sac_pipes_create(const sac_gpu *gpu, VkRenderPass pass, VkRenderPass shadow, bool multiview,
                            VkSampleCountFlagBits samples, sac_pipes *pipes, sac_error *error)
{
    for (int i = 0; i < SAC_PIPES; i++) {
        const recipe *r = &recipes[i];
        sac_result result = make_pipeline(gpu, r, r->shadow ? shadow : pass, multiview, samples,
                                          pipes->layout, &pipes->pipes[i], error);
        if (result != SAC_OK) return result;
    }
    return SAC_OK;
}

void sac_pipes_clear(const sac_gpu *gpu, sac_pipes *pipes)
{
    for (int i = 0; i < SAC_PIPES; i++) {
        vkDestroyPipeline(gpu->device, pipes->pipes[i], NULL);
        pipes->pipes[i] = VK_NULL_HANDLE;
    }
}

void sac_pipes_fini(const sac_gpu *gpu, sac_pipes *pipes)
{
    sac_pipes_clear(gpu, pipes);
    vkDestroyPipelineLayout(gpu->device, pipes->layout, NULL);
    vkDestroyDescriptorSetLayout(gpu->device, pipes->set_layout, NULL);
    *pipes = (sac_pipes){0};
}
